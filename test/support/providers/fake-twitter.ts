/** Twitter's OAuth 1.0a on loopback: it checks every signature and hands out each token once. */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'

import { oauth1Header } from '../../../providers/oauth/oauth1.ts'
import type { Ending } from '../processes/ending.ts'
import { serve } from '../processes/listening.ts'
import { client, type Registration } from './fake-provider.ts'

export async function startFakeTwitter(t: Ending, registered: Registration = { ...client }) {
  const deviations: string[] = []
  const requests: string[] = []
  const flows = new Map<string, string>()
  const user: Record<string, unknown> = {
    id: 9,
    id_str: '9',
    screen_name: 'ann',
    name: 'Ann Lee',
    email: 'ann@ex.test',
    profile_image_url_https: 'https://i.test/p',
  }

  const server = createServer((request, response) => {
    try {
      const { status = 200, location = '', body = '' } = respond(request)
      response.writeHead(status, location ? { location } : {}).end(body)
    } catch (error) {
      deviations.push(`${request.url}: ${error instanceof Error ? error.message : ''}`)
      response.writeHead(401).end('{"errors":[{"code":32}]}')
    }
  })
  const origin = `http://127.0.0.1:${await serve(t, server)}`

  function respond(request: IncomingMessage): {
    status?: number
    location?: string
    body?: string
  } {
    const url = new URL(request.url ?? '', origin)
    requests.push(`${request.method} ${url.pathname}`)
    assert.equal(request.method, 'GET')
    if (url.pathname === '/oauth/authenticate') {
      const token = url.searchParams.get('oauth_token') ?? ''
      const back = new URL(flows.get(token) ?? '')
      back.searchParams.set('oauth_token', token)
      back.searchParams.set('oauth_verifier', 'v1')
      return { status: 302, location: back.href }
    }
    const oauth = parseHeader(request.headers.authorization)
    assert.equal(request.headers['user-agent'], 'Postern')
    if (url.pathname === '/oauth/request_token') return requestToken(oauth, url)
    if (url.pathname === '/oauth/access_token') return accessToken(oauth, url)
    assert.equal(
      url.pathname + url.search,
      '/1.1/account/verify_credentials.json?include_email=true&include_entities=false&skip_status=true',
    )
    checkSignature(oauth, url, registered, { token: 'at', tokenSecret: 'as' })
    return { body: JSON.stringify(user) }
  }

  function requestToken(oauth: Header, url: URL) {
    const { oauth_callback = '' } = oauth
    assert.ok(oauth_callback.startsWith(`${registered.redirectUri}?state=`), oauth_callback)
    checkSignature(oauth, url, registered, {
      token: '',
      tokenSecret: '',
      params: { oauth_callback },
    })
    const token = `t${flows.size + 1}`
    flows.set(token, oauth_callback)
    return {
      body: `oauth_token=${token}&oauth_token_secret=s-${token}&oauth_callback_confirmed=true`,
    }
  }

  function accessToken(oauth: Header, url: URL) {
    const token = oauth.oauth_token ?? ''
    const params = { oauth_verifier: 'v1' }
    checkSignature(oauth, url, registered, { token, tokenSecret: `s-${token}`, params })
    assert.ok(flows.delete(token), 'unknown token')
    return { body: 'oauth_token=at&oauth_token_secret=as&user_id=9' }
  }

  return { origin, deviations, requests, user, registered }
}

type Header = Record<string, string>
type Signed = { token: string; tokenSecret: string; params?: Record<string, string> }

function parseHeader(header = ''): Header {
  const pairs = header.matchAll(/(\w+)="([^"]*)"/g)
  return Object.fromEntries(
    [...pairs].map(([, name, value = '']) => [name, decodeURIComponent(value)]),
  )
}

/** The signature is computed from the header and must match. */
function checkSignature(oauth: Header, url: URL, { id, secret }: Registration, signed: Signed) {
  const again = oauth1Header({
    url: url.href,
    consumerKey: id,
    consumerSecret: secret,
    ...signed,
    now: new Date(Number(oauth.oauth_timestamp) * 1000),
    nonce: oauth.oauth_nonce ?? '',
  })
  assert.deepEqual(parseHeader(again), oauth)
  assert.ok(Math.abs(Number(oauth.oauth_timestamp) * 1000 - Date.now()) < 60_000)
}
