import { randomBytes, randomInt } from 'node:crypto'

import { hash } from '@node-rs/bcrypt'

import type { Target } from '../core/target.ts'
import { newEmail, password, times, users } from '../core/users.ts'

/** Users that an unauthenticated client may ask for. `named` ones are asked for by username, the others by address. */
export const kinds = [
  'confirmed',
  'unconfirmed',
  'banned',
  'imported',
  'phone-only',
  'named',
] as const
export type Kind = (typeof kinds)[number]

/** The identifiers of a user that an unauthenticated client may know. */
export type Contact = { email: string } | { phone: string } | { username: string }

/** Cost of imported hashes: the default of most programs. */
const bcryptCost = 10

/** An unknown identifier of the same form. */
export function newContact(kind: Kind): Contact {
  if (kind === 'named') return { username: `bench-${randomBytes(12).toString('hex')}` }
  return kind === 'phone-only' ? { phone: newPhone() } : { email: newEmail() }
}

/** n users of an account state. Throws Rejected when the server cannot create them. */
export async function createUsers(target: Target, kind: Kind, n: number): Promise<Contact[]> {
  if (kind === 'confirmed') return (await users(target, n)).map(({ email }) => ({ email }))
  if (kind === 'named') return createNamed(target, n)
  const make = await createInput(kind)
  return times(n, async () => {
    const contact = newContact(kind)
    const isSignUp = kind === 'unconfirmed'
    await target.call<object>({
      method: 'POST',
      path: isSignUp ? '/signup' : '/admin/users',
      ...(!isSignUp && { token: target.adminToken() }),
      body: { ...contact, ...make },
    })
    return contact
  })
}

/** As many have an imported hash as among the users of all kinds, as unknown names are compared with all of them. */
async function createNamed(target: Target, n: number): Promise<Contact[]> {
  const [own, imported] = [{ password, email_confirm: true }, await createInput('imported')]
  const token = target.adminToken()
  return times(n, async (i) => {
    const body = { email: newEmail(), ...(i % (kinds.length - 1) === 0 ? imported : own) }
    const request = { method: 'POST', path: '/admin/users', token, body } as const
    const { id } = await target.call<{ id: string }>(request)
    const contact = newContact('named')
    const path = `/admin/users/${id}/username`
    await target.call<object>({ method: 'PUT', path, token, body: contact })
    return contact
  })
}

/** Further fields for their creation. */
async function createInput(kind: Exclude<Kind, 'confirmed' | 'named'>): Promise<object> {
  if (kind === 'unconfirmed') return { password }
  if (kind === 'banned') return { password, email_confirm: true, ban_duration: '24h' }
  if (kind === 'phone-only') return { password, phone_confirm: true }
  return { password_hash: await hash(password, bcryptCost), email_confirm: true }
}

/** Of a reserved range (+1 555 ...), all of one length. */
function newPhone(): string {
  return `1555${String(randomInt(10 ** 10)).padStart(10, '0')}`
}
