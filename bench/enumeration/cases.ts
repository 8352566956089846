import type { HttpRequest } from '../core/exchange.ts'
import { password } from '../core/users.ts'
import { type Contact, type Kind, kinds } from './users.ts'

/** One endpoint, requested with known and unknown emails and phones. */
export interface EnumerationCase {
  name: string
  kinds: readonly Kind[]
  /** Requested with the token of a new user without an email each time. */
  byAnonymous?: true
  /** Responses for unknown identifiers resemble those of random account states, so they are compared with all users. */
  amongAll?: true
  request(contact: Contact): Omit<HttpRequest, 'token'>
}

const byAddress = kinds.filter((kind) => kind !== 'named')
const byEmail = byAddress.filter((kind) => kind !== 'phone-only')
const byUsername = ['named'] as const

const post = (path: string, body: object) => ({ method: 'POST' as const, path, body })

export const enumerationCases: EnumerationCase[] = [
  {
    name: 'sign-up',
    kinds: byAddress,
    request: (contact) => post('/signup', { ...contact, password }),
  },
  {
    name: 'resend',
    kinds: byAddress,
    request: (contact) =>
      post('/resend', { ...contact, type: 'phone' in contact ? 'sms' : 'signup' }),
  },
  { name: 'recover', kinds: byEmail, request: (contact) => post('/recover', contact) },
  { name: 'magic-link', kinds: byEmail, request: (contact) => post('/magiclink', contact) },
  { name: 'otp', kinds: byAddress, request: (contact) => post('/otp', contact) },
  {
    name: 'verify',
    kinds: byAddress,
    request: (contact) =>
      post('/verify', {
        ...contact,
        token: '000000',
        type: 'phone' in contact ? 'sms' : 'signup',
      }),
  },
  {
    name: 'sign-in',
    kinds: byAddress,
    amongAll: true,
    request: (contact) =>
      post('/token?grant_type=password', { ...contact, password: `not ${password}` }),
  },
  {
    name: 'sign-in-username',
    kinds: byUsername,
    amongAll: true,
    request: (contact) =>
      post('/token?grant_type=password', { ...contact, password: `not ${password}` }),
  },
  {
    name: 'recover-username',
    kinds: byUsername,
    request: (contact) => post('/recover', contact),
  },
  {
    name: 'put-user',
    kinds: byAddress,
    byAnonymous: true,
    request: (contact) => ({ method: 'PUT', path: '/user', body: contact }),
  },
]
