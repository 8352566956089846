/** Normalizes email addresses, and decides whether a provider's verification applies to the normalized form. */
import { domainToASCII } from 'node:url'

interface Folded {
  /** Trimmed, NFKC, lower case, the host in ASCII (UTS 46). */
  address: string
  /** Whether it is the same mailbox: a look-alike letter that is folded to ASCII changes it. */
  isSame: boolean
}

export function foldAddress(written: string): Folded {
  const trimmed = written.trim()
  const at = trimmed.lastIndexOf('@')
  if (at < 0) return { address: fold(trimmed), isSame: false }
  const [local, host] = [trimmed.slice(0, at), trimmed.slice(at + 1)]
  return { address: `${fold(local)}@${asciiHost(host)}`, isSame: isSameMailbox(trimmed) }
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

/** Composition and lower case keep the mailbox. A letter of another script must not become an ASCII letter. */
function isSameMailbox(address: string): boolean {
  const isComposedOnly = address.normalize('NFKC') === address.normalize('NFC')
  return isComposedOnly && ![...address].some(becomesAscii)
}

function becomesAscii(letter: string): boolean {
  return !isAscii(letter) && isAscii(fold(letter))
}

/** Mail servers resolve the host by the same rules (RFC 5891 §5.3). */
function asciiHost(host: string): string {
  return isAscii(host) ? host.toLowerCase() : domainToASCII(host.normalize('NFKC'))
}

function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text)
}
