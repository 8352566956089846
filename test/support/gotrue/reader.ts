/** Rows as GoTrue reads them: most of its structs do not accept null. */
import assert from 'node:assert/strict'

import type pg from 'pg'

export type Row = Record<string, unknown>
export type Client = pg.Pool | pg.PoolClient

const neverNull: Record<string, string[]> = {
  users: [
    'instance_id',
    'aud',
    'role',
    'created_at',
    'updated_at',
    'confirmation_token',
    'recovery_token',
    'email_change_token_new',
    'email_change_token_current',
    'email_change',
    'email_change_confirm_status',
    'phone_change',
    'phone_change_token',
    'reauthentication_token',
  ],
  identities: ['provider_id', 'user_id', 'identity_data', 'provider', 'created_at', 'updated_at'],
  sessions: ['user_id', 'created_at', 'updated_at'],
  refresh_tokens: ['instance_id', 'token', 'user_id', 'revoked', 'parent', 'session_id'],
  one_time_tokens: ['user_id', 'token_type', 'token_hash', 'relates_to', 'created_at'],
  mfa_amr_claims: ['session_id', 'authentication_method', 'created_at', 'updated_at'],
  mfa_factors: ['user_id', 'friendly_name', 'factor_type', 'status', 'secret', 'created_at'],
  mfa_challenges: ['factor_id', 'created_at', 'ip_address', 'otp_code'],
  flow_state: ['provider_type', 'provider_access_token', 'provider_refresh_token'],
}

export const readerTables = Object.keys(neverNull)

export async function run(client: Client, text: string, ...values: unknown[]): Promise<Row[]> {
  return (await client.query<Row>(text, values)).rows
}

/** Rows of a table; fails where GoTrue would. */
export async function read(
  client: Client,
  table: string,
  condition: string,
  ...values: unknown[]
): Promise<Row[]> {
  const rows = await run(client, `select * from auth.${table} where ${condition}`, ...values)
  for (const row of rows) {
    for (const column of neverNull[table] ?? []) {
      assert.notEqual(row[column] ?? null, null, `${table}.${column} is null`)
    }
  }
  return rows
}

export async function transaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}
