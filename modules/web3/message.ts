/**
 * The signed text: Sign-In with Ethereum (EIP-4361) and its Solana counterpart. A header line with an
 * optional scheme, an address, an optional statement, then `Key: value` lines in any order.
 */
import { validationFailed } from '../../schemas/errors.ts'

const rfc3339 =
  /^(\d{4}-\d\d-\d\d)[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** RFC 3339; undefined when the field is absent. Throws validation_failed. */
function readTime(field: string, value: string | undefined): Date | undefined {
  if (value === undefined) return undefined
  const [, date = ''] = rfc3339.exec(value) ?? []
  const day = new Date(`${date}T00:00:00Z`)
  // Date parsing accepts 30 February as 2 March.
  const isDay = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date)
  const time = new Date(value.toUpperCase())
  if (date !== '' && isDay && !Number.isNaN(time.getTime())) return time
  throw validationFailed(`The signed message has no valid time (RFC 3339) in "${field}"`)
}

export interface WalletMessage {
  /** Optional in the header line: that of the page which requested the signature. */
  scheme: string | undefined
  /** With its port, as in the header line. */
  domain: string
  address: string
  statement: string | undefined
  uri: URL
  chainId: string | undefined
  issuedAt: Date
  notBefore: Date | undefined
  expirationTime: Date | undefined
}

type ChainName = 'ethereum' | 'solana'

const headers: Record<ChainName, string> = {
  ethereum: ' wants you to sign in with your Ethereum account:',
  solana: ' wants you to sign in with your Solana account:',
}

const minLines = 6
const label = String.raw`[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?`
/** In letters or in punycode (RFC 5890 §2.3.2.1); the last label of an IP address is a number. */
const topLevel = String.raw`xn--[a-z0-9-]{0,58}[a-z0-9]|\p{L}[\p{L}\p{M}]{1,62}`
const domainPattern = new RegExp(
  String.raw`^(localhost|(?:${label}\.){1,32}(?:${topLevel}))(?::\d{1,5})?$`,
  'iu',
)
const schemePattern = /^([a-z][a-z0-9+.-]{0,31}):\/\//i

/** Throws validation_failed with the first error. The signature is not verified yet. */
export function parseMessage(chain: ChainName, text: string): WalletMessage {
  if (text.includes('\r')) throw invalid('contains a carriage return')
  const lines = text.split('\n')
  if (lines.length < minLines) throw invalid(`has fewer than ${minLines} lines`)
  const [first = '', second = '', third = ''] = lines
  if (!first.endsWith(headers[chain])) {
    throw invalid(`does not begin with "<domain>${headers[chain]}"`)
  }
  const origin = first.slice(0, -headers[chain].length)
  const [prefix = '', scheme] = schemePattern.exec(origin) ?? []
  const domain = origin.slice(prefix.length)
  if (!domainPattern.test(domain)) throw invalid('has no valid domain in its first line')
  if (third !== '') throw invalid('has no empty line after the address')
  const hasStatement = lines[3] !== '' && lines[4] === ''
  const fields = readFields(lines.slice(hasStatement ? 5 : 3))
  const statement = hasStatement ? lines[3] : undefined
  return { scheme, domain, address: second.trim(), statement, ...readValues(fields) }
}

/** The last of repeated keys counts; unknown keys are ignored. */
function readFields(lines: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>()
  let inResources = false
  for (const line of lines) {
    if (inResources && line.startsWith('- ')) {
      readUri('Resources', line.slice(2).trim())
      continue
    }
    // @supabase/auth-js omits the colon for Solana.
    inResources = line === 'Resources:' || line === 'Resources'
    if (line === '' || inResources) continue
    const colon = line.indexOf(':')
    if (colon < 0) throw invalid('has a line without a colon')
    fields.set(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  return fields
}

function readValues(fields: ReadonlyMap<string, string>) {
  if (fields.get('Version') !== '1') throw invalid('must say "Version: 1"')
  const uri = readUri('URI', fields.get('URI') ?? '')
  const issuedAt = readTime('Issued At', fields.get('Issued At'))
  if (!issuedAt) throw invalid('has no "Issued At"')
  const expirationTime = readTime('Expiration Time', fields.get('Expiration Time'))
  const notBefore = readTime('Not Before', fields.get('Not Before'))
  if (expirationTime && issuedAt > expirationTime) throw invalid('expires before it was issued')
  if (expirationTime && notBefore && notBefore > expirationTime) {
    throw invalid('expires before it becomes valid')
  }
  return { uri, chainId: fields.get('Chain ID'), issuedAt, notBefore, expirationTime }
}

function readUri(field: string, value: string): URL {
  const uri = URL.parse(value)
  if (!uri) throw invalid(`has no valid URI in "${field}"`)
  return uri
}

/** The caller throws the returned error. */
export function invalid(fault: string) {
  return validationFailed(`The signed message ${fault}`)
}

/** Differences between the two kinds of wallets. */
export interface Chain {
  name: ChainName
  title: string
  /** Throws validation_failed for a signature or message that is invalid on this chain. */
  checkForm(message: WalletMessage, signature: string): void
  /** Whether the key of the message's address signed these bytes. */
  verify(text: Uint8Array, message: WalletMessage, signature: string): Promise<boolean>
  /** Whether addresses are case-insensitive. */
  anyCase: boolean
  /** The identity's value for a message without a statement. */
  noStatement: string | null
}
