/** Sessions by GoTrue’s statements with its lock order: legacy tokens, and counters under a key. */
import assert from 'node:assert/strict'
import { createSecretKey, randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'

import type pg from 'pg'

import { decodeRefreshToken, encodeRefreshToken } from '../../../modules/sessions/refresh-token.ts'
import { waitTimeoutMs } from '../processes/until.ts'
import { type Client, type Row, read, run, transaction } from './reader.ts'

type Exchanged = { token: string } | undefined | 'busy'

const nil = '00000000-0000-0000-0000-000000000000'

/** Returns the first refresh token. */
export async function openSession(
  pool: pg.Pool,
  userId: string,
  form: 'row' | 'counter',
): Promise<string> {
  const id = randomUUID()
  const key = createSecretKey(randomBytes(32))
  const counter = form === 'counter' ? [key.export().toString('base64url'), 0] : [null, null]
  return transaction(pool, async (client) => {
    await run(
      client,
      `insert into auth.sessions (id, user_id, aal, created_at, updated_at, refresh_token_hmac_key,
        refresh_token_counter) values ($1, $2, 'aal1', now(), now(), $3, $4)`,
      id,
      userId,
      ...counter,
    )
    await run(
      client,
      `insert into auth.mfa_amr_claims (id, session_id, authentication_method, created_at, updated_at)
        values ($1, $2, 'password', now(), now()) on conflict on constraint
        mfa_amr_claims_session_id_authentication_method_pkey do update set updated_at = now()`,
      randomUUID(),
      id,
    )
    if (form === 'counter') return encodeRefreshToken(id, 0, key)
    return insertToken(client, userId, id, '')
  })
}

/** The next token; undefined where it is rejected. Retries while another request has the locks, as GoTrue does. */
export async function refresh(pool: pg.Pool, presented: string): Promise<string | undefined> {
  const exchange = presented.length === 12 ? exchangeRow : exchangeCounter
  for (const end = performance.now() + waitTimeoutMs; performance.now() < end; await pause(10)) {
    const result = await transaction(pool, (client) => exchange(client, presented))
    if (result !== 'busy') return result?.token
  }
  throw new Error('the session stayed locked')
}

async function exchangeRow(client: Client, presented: string): Promise<Exchanged> {
  const there = await read(client, 'refresh_tokens', 'token = $1', presented)
  if (there.length === 0) return undefined
  const locked = 'token = $1 limit 1 for update skip locked'
  const [token] = await read(client, 'refresh_tokens', locked, presented)
  const session = token && (await lockSession(client, token.session_id))
  if (!token || !session) return 'busy'
  if (token.revoked) return respondRevoked(client, token)
  const revoke = 'update auth.refresh_tokens set revoked = true, updated_at = now() where id = $1'
  await run(client, revoke, token.id)
  const next = await insertToken(client, token.user_id, session.id, presented)
  await touch(client, session.id)
  return { token: next }
}

async function respondRevoked(client: Client, { token, session_id }: Row): Promise<Exchanged> {
  const current = 'session_id = $1 and revoked is false order by id desc limit 1'
  const [active] = await read(client, 'refresh_tokens', current, session_id)
  if (active?.parent === token) return { token: String(active?.token) }
  await run(
    client,
    `update auth.refresh_tokens set revoked = true, updated_at = now()
      where session_id = $1 and revoked = false`,
    session_id,
  )
  return undefined
}

async function exchangeCounter(client: Client, presented: string): Promise<Exchanged> {
  const given = decodeRefreshToken(presented) ?? assert.fail('no token of the counter format')
  const { sessionId: id, counter } = given
  const there = await read(client, 'sessions', 'id = $1', id)
  if (there.length === 0) return undefined
  const session = await lockSession(client, id)
  if (!session) return 'busy'
  const key = createSecretKey(String(session.refresh_token_hmac_key), 'base64url')
  assert.equal(key.symmetricKeySize, 32, 'GoTrue cannot read the key of the session')
  assert.ok(given.isSignedWith(key))
  const current = Number(session.refresh_token_counter)
  if (current - counter === 1) return { token: encodeRefreshToken(id, current, key) }
  if (current !== counter) {
    await run(client, 'delete from auth.sessions where id = $1', id)
    return undefined
  }
  const advance = 'update auth.sessions set refresh_token_counter = $2 where id = $1'
  await run(client, advance, id, counter + 1)
  await touch(client, id)
  return { token: encodeRefreshToken(id, counter + 1, key) }
}

async function lockSession(client: Client, id: unknown): Promise<Row | undefined> {
  const [session] = await read(client, 'sessions', 'id = $1 limit 1 for update skip locked', id)
  return session
}

async function insertToken(
  client: Client,
  userId: unknown,
  sessionId: unknown,
  parent: string,
): Promise<string> {
  const messages = 'abcdefghijklmnopqrstuvwxyz234567'
  const token = Array.from(randomBytes(12), (byte) => messages[byte % 32]).join('')
  await run(
    client,
    `insert into auth.refresh_tokens (instance_id, token, user_id, session_id, parent, revoked,
      created_at, updated_at) values ('${nil}', $1, $2, $3, $4, false, now(), now())`,
    token,
    userId,
    sessionId,
    parent,
  )
  return token
}

const touch = (client: Client, id: unknown) =>
  run(
    client,
    `update auth.sessions set refreshed_at = now() at time zone 'utc', updated_at = now()
      where id = $1`,
    id,
  )
