/** Differences between the two kinds of wallets. */
import type { ChainName, WalletMessage } from './message.ts'

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
