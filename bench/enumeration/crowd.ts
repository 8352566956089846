import { randomInt } from 'node:crypto'

import { hash } from '@node-rs/bcrypt'

import { newEmail, password, people, times } from '../people.ts'
import type { Target } from '../target.ts'

/** Whom a stranger may ask about. Everybody but the last has an email address and no number. */
export const kinds = ['confirmed', 'unconfirmed', 'banned', 'imported', 'phone-only'] as const
export type Kind = (typeof kinds)[number]

/** What a stranger knows of somebody. */
export type Contact = { email: string } | { phone: string }

/** Cost of the hashes that came from elsewhere: what most programs use. */
const bcryptCost = 10

/** An address or a number like those of the kind, which nobody has. */
export function newContact(kind: Kind): Contact {
  return kind === 'phone-only' ? { phone: newPhone() } : { email: newEmail() }
}

/** n people of a kind. Throws Refused when the server does not offer what makes them. */
export async function makePeople(target: Target, kind: Kind, n: number): Promise<Contact[]> {
  if (kind === 'confirmed') return (await people(target, n)).map(({ email }) => ({ email }))
  const make = await makerOf(kind)
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

/** What is said of them besides the address when they are made. */
async function makerOf(kind: Exclude<Kind, 'confirmed'>): Promise<object> {
  if (kind === 'unconfirmed') return { password }
  if (kind === 'banned') return { password, email_confirm: true, ban_duration: '24h' }
  if (kind === 'phone-only') return { password, phone_confirm: true }
  return { password_hash: await hash(password, bcryptCost), email_confirm: true }
}

/** Of a range that is never given to anybody (+1 555 ...), all of one length. */
function newPhone(): string {
  return `1555${String(randomInt(10 ** 10)).padStart(10, '0')}`
}
