/** Parses and verifies a signed message. */
import type { Deps } from '../../plugins/define-plugin.ts'
import {
  validationFailed,
  walletRejected,
  web3ProviderDisabled,
  web3UnsupportedChain,
} from '../../schemas/errors.ts'
import type { Chain } from './chain.ts'
import { checkOrigin, checkTimes } from './checks.ts'
import { ethereum } from './ethereum.ts'
import { parseMessage, type WalletMessage } from './message.ts'
import { solana } from './solana.ts'

export interface SignedMessage {
  chain?: string | undefined
  message?: string | undefined
  signature?: string | undefined
}

export interface VerifiedMessage {
  chain: Chain
  message: WalletMessage
  text: Buffer
  /** The time after which it is too old to be accepted. */
  usableUntil: Date
}

const [minBytes, maxBytes] = [64, 20_480]

/** Throws web3_provider_disabled when no chain is enabled. */
export function checkEnabled({ config }: Deps<'config'>): void {
  if (!config.AUTH_EXTERNAL_WEB3_SOLANA_ENABLED && !config.AUTH_EXTERNAL_WEB3_ETHEREUM_ENABLED) {
    throw web3ProviderDisabled()
  }
}

/**
 * Returns the message, signed by the key of its address, intended for this server and currently valid. Throws
 * web3_provider_disabled, web3_unsupported_chain, validation_failed and invalid_grant.
 */
export async function verifyMessage(
  deps: Deps<'config' | 'flows'>,
  signed: SignedMessage,
  now: Date,
): Promise<VerifiedMessage> {
  const { chain, validityMs } = readChain(deps, signed.chain)
  const { text, message } = await verify(chain, signed)
  checkOrigin(deps, message)
  checkTimes(message, validityMs, now)
  const usableUntil = new Date(message.issuedAt.getTime() + validityMs)
  return { chain, message, text, usableUntil }
}

function readChain({ config }: Deps<'config'>, name = ''): { chain: Chain; validityMs: number } {
  const chain = [ethereum, solana].find((candidate) => candidate.name === name)
  if (!chain) throw web3UnsupportedChain()
  const isEthereum = chain === ethereum
  const isOn = isEthereum
    ? config.AUTH_EXTERNAL_WEB3_ETHEREUM_ENABLED
    : config.AUTH_EXTERNAL_WEB3_SOLANA_ENABLED
  if (!isOn) throw web3ProviderDisabled(chain.title)
  const seconds = isEthereum
    ? config.AUTH_EXTERNAL_WEB3_ETHEREUM_MAXIMUM_VALIDITY_DURATION
    : config.AUTH_EXTERNAL_WEB3_SOLANA_MAXIMUM_VALIDITY_DURATION
  return { chain, validityMs: seconds * 1000 }
}

/** Verifies that the key of its address signed the message. */
async function verify(chain: Chain, { message: written = '', signature = '' }: SignedMessage) {
  const text = Buffer.from(written)
  if (text.length < minBytes || text.length > maxBytes) {
    throw validationFailed(`The message must be ${minBytes} to ${maxBytes} bytes long`)
  }
  const message = parseMessage(chain.name, written)
  chain.checkForm(message, signature)
  if (await chain.verify(text, message, signature)) return { text, message }
  throw walletRejected('The signature does not match the address in the message')
}
