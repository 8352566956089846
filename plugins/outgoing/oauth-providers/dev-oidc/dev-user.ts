import { createHash } from 'node:crypto'

/**
 * The user for a typed name: an email address is used as is; for any other name, in any script, an address is derived.
 */
export function toDevUser(typed: string) {
  const isAddress = /^[^\s@]+@[^\s@]+$/.test(typed)
  const email = isAddress ? typed : `${toLocalPart(typed)}@dev.example`
  const name = isAddress ? typed.slice(0, typed.indexOf('@')) : typed
  return { sub: typed, name, email, email_verified: true }
}

function toLocalPart(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '.')
    .replaceAll(/^\.|\.$/g, '')
    .slice(0, 60)
  return plain || `user-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`
}
