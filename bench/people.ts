import { randomUUID } from 'node:crypto'

import { hash } from '@node-rs/argon2'

import { withClient } from '../cli/with-client.ts'
import { Refused } from './scenario.ts'
import type { Target } from './target.ts'

export interface Person {
  id: string
  email: string
}

export interface SignedInPerson extends Person {
  access_token: string
  refresh_token: string
}

interface SignUpAnswer {
  id?: string
  access_token?: string
  user?: { id: string }
}

export const password = 'correct horse battery staple 7'

/** An address nobody has used; all of one length, so that answers differ by nothing else. */
export function newEmail(): string {
  return `bench-${randomUUID()}@example.com`
}

/** n people with a confirmed address and the common password, which the server hashed itself. */
export async function people(target: Target, n: number): Promise<Person[]> {
  if (await hasAdmin(target)) return createByAdmin(target, n, { password })
  return signUpAndConfirm(target, n)
}

/** The same with a ready hash, for when there must be thousands and nobody signs in. */
export async function peopleInBulk(target: Target, n: number): Promise<Person[]> {
  if (!(await hasAdmin(target))) return signUpAndConfirm(target, n)
  return createByAdmin(target, n, { password_hash: await hash(password) })
}

/** n people with a session each. */
export async function signedInPeople(target: Target, n: number): Promise<SignedInPerson[]> {
  const found = await people(target, n)
  return Promise.all(found.map((person) => signIn(target, person)))
}

export function times<T>(n: number, make: (i: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: n }, (_, i) => make(i)))
}

async function signIn(target: Target, person: Person): Promise<SignedInPerson> {
  const session = await target.call<{ access_token: string; refresh_token: string }>({
    method: 'POST',
    path: '/token?grant_type=password',
    body: { email: person.email, password },
  })
  return { ...person, ...session }
}

/** Whether we have a token for the admin endpoints, and the server has the endpoints. */
async function hasAdmin(target: Target): Promise<boolean> {
  if (!target.serviceRole) return false
  const token = target.serviceRole
  const answer = await target.send({ method: 'GET', path: '/admin/users?page=1&per_page=1', token })
  return answer.status !== 404
}

type Secret = { password: string } | { password_hash: string }

function createByAdmin(target: Target, n: number, secret: Secret): Promise<Person[]> {
  return times(n, async () => {
    const email = newEmail()
    const { id } = await target.call<{ id: string }>({
      method: 'POST',
      path: '/admin/users',
      token: target.adminToken(),
      body: { email, email_confirm: true, ...secret },
    })
    return { id, email }
  })
}

async function signUpAndConfirm(target: Target, n: number): Promise<Person[]> {
  const found = await times(n, () => signUp(target))
  const waiting = found.filter(({ isConfirmed }) => !isConfirmed).map(({ id }) => id)
  if (waiting.length > 0) await confirmByHand(target, waiting)
  return found
}

async function signUp(target: Target) {
  const email = newEmail()
  const body = { email, password }
  const answer = await target.call<SignUpAnswer>({ method: 'POST', path: '/signup', body })
  const id = answer.user?.id ?? answer.id
  if (!id) throw new Refused('POST /signup: answered no user')
  return { id, email, isConfirmed: answer.access_token !== undefined }
}

async function confirmByHand({ databaseUrl }: Target, ids: string[]): Promise<void> {
  if (!databaseUrl) throw new Refused('needs --service-role, --jwt-secret or --database-url')
  await withClient({ connectionString: databaseUrl }, (client) =>
    client.query('update auth.users set email_confirmed_at = now() where id = any($1)', [ids]),
  )
}
