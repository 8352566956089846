/**
 * The signed text: Sign-In with Ethereum (EIP-4361) and its Solana counterpart. A header line, an address, an optional
 * statement, then `Key: value` lines in any order.
 */
import { validationFailed } from '../../schemas/errors.ts'
import { readTime } from './time.ts'

export interface WalletMessage {
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

export type ChainName = 'ethereum' | 'solana'

const headers: Record<ChainName, string> = {
  ethereum: ' wants you to sign in with your Ethereum account:',
  solana: ' wants you to sign in with your Solana account:',
}

const minLines = 6
const domainPattern =
  /^(localhost|(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,32}[a-z]{2,63})(?::\d{1,5})?$/i

/** Throws validation_failed with the first error. The signature is not verified yet. */
export function parseMessage(chain: ChainName, text: string): WalletMessage {
  if (text.includes('\r')) throw invalid('contains a carriage return')
  const lines = text.split('\n')
  if (lines.length < minLines) throw invalid(`has fewer than ${minLines} lines`)
  const [first = '', second = '', third = ''] = lines
  if (!first.endsWith(headers[chain])) {
    throw invalid(`does not begin with "<domain>${headers[chain]}"`)
  }
  const domain = first.slice(0, -headers[chain].length)
  if (!domainPattern.test(domain)) throw invalid('has no valid domain in its first line')
  if (third !== '') throw invalid('has no empty line after the address')
  const hasStatement = lines[3] !== '' && lines[4] === ''
  const fields = readFields(lines.slice(hasStatement ? 5 : 3))
  const statement = hasStatement ? lines[3] : undefined
  return { domain, address: second.trim(), statement, ...readValues(fields) }
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
