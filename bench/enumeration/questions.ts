import type { HttpRequest } from '../exchange.ts'
import { password } from '../people.ts'
import { type Contact, type Kind, kinds } from './crowd.ts'

/** One endpoint, asked about addresses and numbers that are known to the server and ones that are not. */
export interface Question {
  name: string
  kinds: readonly Kind[]
  /** Asked with the token of somebody who has no account yet, a new one each time. */
  byAnonymous?: true
  /**
   * Strangers are answered like people of one kind or another, as often as there are people of that kind: they are
   * compared with everybody.
   */
  amongAll?: true
  request(contact: Contact): Omit<HttpRequest, 'token'>
}

const byEmail = kinds.filter((kind) => kind !== 'phone-only')

const post = (path: string, body: object) => ({ method: 'POST' as const, path, body })

export const questions: Question[] = [
  {
    name: 'sign-up',
    kinds,
    request: (contact) => post('/signup', { ...contact, password }),
  },
  {
    name: 'resend',
    kinds,
    request: (contact) =>
      post('/resend', { ...contact, type: 'phone' in contact ? 'sms' : 'signup' }),
  },
  { name: 'recover', kinds: byEmail, request: (contact) => post('/recover', contact) },
  { name: 'magic-link', kinds: byEmail, request: (contact) => post('/magiclink', contact) },
  { name: 'otp', kinds, request: (contact) => post('/otp', contact) },
  {
    name: 'verify',
    kinds,
    request: (contact) =>
      post('/verify', {
        ...contact,
        token: '000000',
        type: 'phone' in contact ? 'sms' : 'signup',
      }),
  },
  {
    name: 'sign-in',
    kinds,
    amongAll: true,
    request: (contact) =>
      post('/token?grant_type=password', { ...contact, password: `not ${password}` }),
  },
  {
    name: 'put-user',
    kinds,
    byAnonymous: true,
    request: (contact) => ({ method: 'PUT', path: '/user', body: contact }),
  },
]
