/** Users, their links and their codes by statements of GoTrue's kind. */
import { createHash, randomInt, randomUUID } from 'node:crypto'

import type pg from 'pg'

import { type Row, read, run, transaction } from './reader.ts'

type TokenKind = 'confirmation_token' | 'recovery_token'

/** GoTrue’s link token and the stored hash of its code. */
const gotrueHash = (address: string, code: string) =>
  createHash('sha224')
    .update(address + code)
    .digest('hex')

/** A user with an identity per identifier; other values are those after a sign-up. */
export async function addUser(pool: pg.Pool, columns: Row): Promise<string> {
  const id = randomUUID()
  const row: Row = {
    instance_id: '00000000-0000-0000-0000-000000000000',
    id,
    aud: 'authenticated',
    role: 'authenticated',
    confirmation_token: '',
    recovery_token: '',
    email_change_token_new: '',
    email_change: '',
    raw_user_meta_data: '{}',
    raw_app_meta_data: '{"provider":"email","providers":["email"]}',
    created_at: new Date(),
    updated_at: new Date(),
    ...columns,
  }
  const names = Object.keys(row)
  const places = names.map((_, at) => `$${at + 1}`)
  const insert = `insert into auth.users (${names.join()}) values (${places.join()})`
  await run(pool, insert, ...Object.values(row))
  for (const provider of ['email', 'phone']) {
    const address = columns[provider]
    if (address) await addIdentity(pool, id, provider, id, { sub: id, [provider]: address })
  }
  return id
}

export async function addIdentity(
  pool: pg.Pool,
  userId: string,
  provider: string,
  providerId: string,
  data: object,
): Promise<void> {
  await run(
    pool,
    `insert into auth.identities (id, user_id, provider, provider_id, identity_data, last_sign_in_at,
      created_at, updated_at) values ($1, $2, $3, $4, $5, now(), now(), now())`,
    randomUUID(),
    userId,
    provider,
    providerId,
    JSON.stringify(data),
  )
}

/** The stored data of an email of GoTrue. */
export async function mailTo(
  pool: pg.Pool,
  userId: string,
  type: TokenKind,
  address: string,
  prefix = '',
) {
  const code = String(randomInt(100_000, 999_999))
  const hash = prefix + gotrueHash(address, code)
  const sentAt = type.replace('_token', '_sent_at')
  await transaction(pool, async (client) => {
    const note = `update auth.users set ${type} = $2, ${sentAt} = now() where id = $1`
    await run(client, note, userId, hash)
    const forget = 'delete from auth.one_time_tokens where token_type = $1 and user_id = $2'
    await run(client, forget, type, userId)
    await run(
      client,
      `insert into auth.one_time_tokens (id, user_id, token_type, token_hash, relates_to, created_at,
        updated_at) values ($1, $2, $3, $4, $5, now(), now())`,
      randomUUID(),
      userId,
      type,
      hash,
      address,
    )
  })
  return { code, hash }
}

/** Consumes the link and returns its user, if it exists and has not expired. */
export async function openLink(pool: pg.Pool, hash: string): Promise<string | undefined> {
  const links = "token_type in ('confirmation_token', 'recovery_token') and token_hash = $1"
  const [token] = await read(pool, 'one_time_tokens', links, hash)
  if (!token) return undefined
  const [user] = await read(pool, 'users', 'id = $1', token.user_id)
  const sentAt = user?.[String(token.token_type).replace('_token', '_sent_at')]
  if (!(sentAt instanceof Date) || Date.now() - sentAt.getTime() > 86_400_000) return undefined
  await transaction(pool, async (client) => {
    await run(
      client,
      `update auth.users set confirmation_token = '', recovery_token = '', updated_at = now(),
        email_confirmed_at = coalesce(email_confirmed_at, now()) where id = $1`,
      token.user_id,
    )
    await run(client, 'delete from auth.one_time_tokens where user_id = $1', token.user_id)
  })
  return String(token.user_id)
}

/** Whether a typed code matches the column, with or without PKCE. */
export async function isCode(pool: pg.Pool, email: string, code: string, column: TokenKind) {
  const [user] = await findByEmail(pool, email)
  const hash = gotrueHash(email, code)
  return [hash, `pkce_${hash}`].includes(String(user?.[column]))
}

export const findByEmail = (pool: pg.Pool, email: string) =>
  read(
    pool,
    'users',
    `instance_id = '00000000-0000-0000-0000-000000000000' and lower(email) = $1
      and aud = 'authenticated' and is_sso_user = false limit 1`,
    email,
  )
