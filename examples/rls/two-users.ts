/** Two users read one table, and each sees only their own rows. README.md says how to run it. */
import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'

import { AuthClient } from '@supabase/auth-js'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import pg from 'pg'

import { findServer } from '../find-server.ts'

const { url, databaseUrl } = await findServer()
const keys = createRemoteJWKSet(new URL(`${url}/.well-known/jwks.json`))
const database = new pg.Client({ connectionString: databaseUrl })

await database.connect()
await database.query(await readFile(new URL('notes.sql', import.meta.url), 'utf8'))

const [ann, ben] = [await signUp('Ann'), await signUp('Ben')]
const write = 'insert into example_notes (body) select unnest($1::text[])'
await asUser(ann.token, write, [['bread', 'butter']])
await asUser(ben.token, write, [['nails']])

const read = 'select body from example_notes order by id'
console.log('Ann sees:', bodies(await asUser(ann.token, read)))
console.log('Ben sees:', bodies(await asUser(ben.token, read)))
const byOwner = 'select body from example_notes where owner = $1'
console.log('Ben reads the notes of Ann:', bodies(await asUser(ben.token, byOwner, [ann.id])))
const forged = "insert into example_notes (owner, body) values ($1, 'forged')"
console.log('Ben writes a note as Ann:', await describeOutcome(asUser(ben.token, forged, [ann.id])))
console.log('No one signed in:', await describeOutcome(asRole('anon', {}, read, [])))

await database.end()

/** Runs a statement with the rights of the token's user. */
async function asUser(token: string, statement: string, values: unknown[] = []) {
  const { payload } = await jwtVerify(token, keys, { audience: 'authenticated' })
  return asRole('authenticated', payload, statement, values)
}

/** The role and the claims hold until the transaction ends. */
async function asRole(role: string, claims: object, statement: string, values: unknown[]) {
  await database.query('begin')
  try {
    await database.query(
      "select set_config('role', $1, true), set_config('request.jwt.claims', $2, true)",
      [role, JSON.stringify(claims)],
    )
    const { rows } = await database.query<{ body: string }>(statement, values)
    await database.query('commit')
    return rows
  } catch (error) {
    await database.query('rollback')
    throw error
  }
}

async function signUp(name: string) {
  const auth = new AuthClient({ url, autoRefreshToken: false })
  const email = `${name.toLowerCase()}-${crypto.randomUUID()}@example.com`
  await auth.signUp({ email, password: 'correct horse battery staple' })
  const token = await mailedCode(email)
  const { data, error } = await auth.verifyOtp({ email, token, type: 'email' })
  if (!data.session) throw error
  return { id: data.session.user.id, token: data.session.access_token }
}

/** The development server stores all emails. */
async function mailedCode(email: string): Promise<string> {
  for (;;) {
    const response = await fetch(`${url}/dev/messages`)
    const messages: { to: string; code: string }[] = JSON.parse(await response.text())
    const mail = messages.find(({ to }) => to === email)
    if (mail) return mail.code
    await pause(100)
  }
}

function bodies(rows: { body: string }[]): string {
  return rows.map(({ body }) => body).join(', ') || 'nothing'
}

async function describeOutcome(attempt: Promise<unknown>): Promise<string> {
  return attempt.then(
    () => 'was not rejected',
    (error: Error) => error.message,
  )
}
