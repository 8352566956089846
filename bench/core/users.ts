import { randomUUID } from 'node:crypto'

import { hash } from '@node-rs/argon2'

import { withClient } from '../../server/with-client.ts'
import { Rejected } from './rejected.ts'
import type { Target } from './target.ts'

export interface BenchUser {
  id: string
  email: string
}

export interface SignedInUser extends BenchUser {
  access_token: string
  refresh_token: string
}

interface SignUpAnswer {
  id?: string
  access_token?: string
  user?: { id: string }
}

export const password = 'correct horse battery staple 7'

/** An unused email; all have the same length, so that responses differ in nothing else. */
export function newEmail(): string {
  return `bench-${randomUUID()}@example.com`
}

/** n users with a confirmed email and the common password, hashed by the server. */
export async function users(target: Target, n: number): Promise<BenchUser[]> {
  if (await hasAdmin(target)) return createByAdmin(target, n, { password })
  return signUpAndConfirm(target, n)
}

/** The same with a ready hash, for thousands of users who do not sign in. */
export async function bulkUsers(target: Target, n: number): Promise<BenchUser[]> {
  if (!(await hasAdmin(target))) return signUpAndConfirm(target, n)
  return createByAdmin(target, n, { password_hash: await hash(password) })
}

/** n users with a session each. */
export async function signedInUsers(target: Target, n: number): Promise<SignedInUser[]> {
  const found = await users(target, n)
  return Promise.all(found.map((user) => signIn(target, user)))
}

export function times<T>(n: number, make: (i: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: n }, (_, i) => make(i)))
}

async function signIn(target: Target, user: BenchUser): Promise<SignedInUser> {
  const session = await target.call<{ access_token: string; refresh_token: string }>({
    method: 'POST',
    path: '/token?grant_type=password',
    body: { email: user.email, password },
  })
  return { ...user, ...session }
}

/** Whether an admin token was given and the server has the admin endpoints. */
async function hasAdmin(target: Target): Promise<boolean> {
  if (!target.serviceRole) return false
  const token = target.serviceRole
  const response = await target.send({
    method: 'GET',
    path: '/admin/users?page=1&per_page=1',
    token,
  })
  return response.status !== 404
}

type Secret = { password: string } | { password_hash: string }

function createByAdmin(target: Target, n: number, secret: Secret): Promise<BenchUser[]> {
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

async function signUpAndConfirm(target: Target, n: number): Promise<BenchUser[]> {
  const found = await times(n, () => signUp(target))
  const waiting = found.filter(({ isConfirmed }) => !isConfirmed).map(({ id }) => id)
  if (waiting.length > 0) await confirmByHand(target, waiting)
  return found
}

async function signUp(target: Target) {
  const email = newEmail()
  const body = { email, password }
  const response = await target.call<SignUpAnswer>({ method: 'POST', path: '/signup', body })
  const id = response.user?.id ?? response.id
  if (!id) throw new Rejected('POST /signup returned no user')
  return { id, email, isConfirmed: response.access_token !== undefined }
}

async function confirmByHand({ databaseUrl }: Target, ids: string[]): Promise<void> {
  if (!databaseUrl) throw new Rejected('needs --service-role, --jwt-secret or --database-url')
  await withClient({ connectionString: databaseUrl }, (client) =>
    client.query('update auth.users set email_confirmed_at = now() where id = any($1)', [ids]),
  )
}
