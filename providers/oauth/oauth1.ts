/** Signed requests of OAuth 1.0a with HMAC-SHA1 (RFC 5849 §3.4). */
import { createHmac, randomBytes } from 'node:crypto'

interface OAuth1Request {
  url: string
  consumerKey: string
  consumerSecret: string
  /** Empty before there is a token. */
  token: string
  tokenSecret: string
  /** Further oauth_ parameters: oauth_callback, oauth_verifier. */
  params?: Readonly<Record<string, string>>
  now: Date
  nonce?: string
}

/** Returns the Authorization header of a GET request. */
export function oauth1Header(request: OAuth1Request): string {
  const { consumerKey, consumerSecret, token, tokenSecret, params, now } = request
  const oauth = {
    oauth_consumer_key: consumerKey,
    oauth_nonce: request.nonce ?? randomBytes(16).toString('hex'),
    oauth_signature_method: 'HMAC-SHA1',
    oauth_timestamp: String(Math.floor(now.getTime() / 1000)),
    oauth_version: '1.0',
    ...(token !== '' && { oauth_token: token }),
    ...params,
  }
  const key = `${encode(consumerSecret)}&${encode(tokenSecret)}`
  const oauth_signature = createHmac('sha1', key)
    .update(signatureBase(request.url, oauth))
    .digest('base64')
  const pairs = Object.entries({ ...oauth, oauth_signature })
  return `OAuth ${pairs.map(([name, value]) => `${name}="${encode(value)}"`).join(', ')}`
}

/** RFC 5849 §3.4.1: method, URL without query, and all parameters sorted after encoding. */
function signatureBase(address: string, oauth: Record<string, string>): string {
  const url = new URL(address)
  const all = [...url.searchParams, ...Object.entries(oauth)]
  const pairs = all.map(([name, value]) => `${encode(name)}=${encode(value)}`).toSorted()
  return ['GET', `${url.origin}${url.pathname}`, pairs.join('&')].map(encode).join('&')
}

/** RFC 5849 §3.6 encodes more characters than encodeURIComponent does. */
function encode(value: string): string {
  return encodeURIComponent(value).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
