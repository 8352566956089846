/** Two tenants, one table, and each sees their own rows. README.md says how to run it. */
import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'

import { createRemoteJWKSet, jwtVerify } from 'jose'
import pg from 'pg'

import { findServer } from '../find-server.ts'

interface Tokens {
  access_token: string
  refresh_token: string
}

const { url, databaseUrl } = await findServer()
const keys = createRemoteJWKSet(new URL(`${url}/.well-known/jwks.json`))
const database = new pg.Client({ connectionString: databaseUrl })

await database.connect()
await database.query(await readFile(new URL('todos.sql', import.meta.url), 'utf8'))

const [ann, ben] = [await signUp('Ann'), await signUp('Ben')]
const acme = await createOrganization(ann, 'Acme')
const globex = await createOrganization(ben, 'Globex')

// Ann makes a role for users who write, and invites Ben with it.
await api(ann, 'POST', `/organizations/${acme}/roles`, {
  name: 'editor',
  permissions: ['todos:write'],
})
await api(ann, 'POST', `/organizations/${acme}/invitations`, { email: ben.email, role: 'editor' })
const { invitations } = await api<{ invitations: { id: string }[] }>(
  ben,
  'GET',
  '/organizations/invitations',
)
await api(ben, 'POST', `/organizations/invitations/${invitations[0]?.id}/accept`)

// A token is for one organization. A refresh may name another, for a second browser tab.
const annAtAcme = await tokenFor(ann, acme)
const benAtGlobex = await tokenFor(ben, globex)
const benAtAcme = await tokenFor(ben, acme)

const add = 'insert into example_todos (title) values ($1)'
await asUser(annAtAcme, add, ['buy anvils'])
await asUser(benAtGlobex, add, ['rent a lair'])
console.log('Acme as Ann (owner):', await titles(annAtAcme))
console.log('Globex as Ben (owner):', await titles(benAtGlobex))
await asUser(benAtAcme, add, ['paint a tunnel'])
console.log('Acme as Ben (editor):', await titles(benAtAcme))
const remove = "delete from example_todos where title = 'buy anvils'"
console.log('Ben deletes a todo of Acme:', counted(await asUser(benAtAcme, remove)))
console.log('Ann deletes a todo of Acme:', counted(await asUser(annAtAcme, remove)))
const forged = 'insert into example_todos (organization_id, title) values ($1, $2)'
const attempt = asUser(benAtAcme, forged, [globex, 'forged'])
console.log(
  'Ben writes to Globex with the token of Acme:',
  await attempt.then(
    () => 'was not rejected',
    (error: Error) => error.message,
  ),
)

await database.end()

/** Runs a statement with the rights of the token's user. */
async function asUser(token: string, statement: string, values: unknown[] = []) {
  const { payload } = await jwtVerify(token, keys, { audience: 'authenticated' })
  await database.query('begin')
  try {
    await database.query(
      "select set_config('role', 'authenticated', true), set_config('request.jwt.claims', $1, true)",
      [JSON.stringify(payload)],
    )
    const result = await database.query<{ title: string }>(statement, values)
    await database.query('commit')
    return result
  } catch (error) {
    await database.query('rollback')
    throw error
  }
}

async function titles(token: string): Promise<string> {
  const { rows } = await asUser(token, 'select title from example_todos order by id')
  return rows.map(({ title }) => title).join(', ') || 'nothing'
}

function counted({ rowCount }: pg.QueryResult): string {
  return rowCount === 1 ? '1 row' : `${rowCount ?? 0} rows`
}

async function createOrganization(user: Tokens, name: string): Promise<string> {
  const { id } = await api<{ id: string }>(user, 'POST', '/organizations', { name })
  return id
}

/** An access token for an organization; the refresh token is exchanged for a new one. */
async function tokenFor(user: Tokens, organizationId: string): Promise<string> {
  const { refresh_token } = user
  const body = { refresh_token, organization_id: organizationId }
  const path = '/token?grant_type=refresh_token'
  const session = await api<Tokens>(user, 'POST', path, body)
  Object.assign(user, session)
  return session.access_token
}

async function signUp(name: string): Promise<Tokens & { email: string }> {
  const email = `${name.toLowerCase()}-${crypto.randomUUID()}@example.com`
  await api(undefined, 'POST', '/signup', { email, password: 'correct horse battery staple' })
  const token = await mailedCode(email)
  const session = await api<Tokens>(undefined, 'POST', '/verify', { type: 'signup', email, token })
  return { ...session, email }
}

async function api<T>(
  user: Tokens | undefined,
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(user && { authorization: `Bearer ${user.access_token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return JSON.parse(text)
}

/** The development server keeps all mail. */
async function mailedCode(email: string): Promise<string> {
  for (;;) {
    const response = await fetch(`${url}/dev/messages`)
    const messages: { to: string; code: string }[] = JSON.parse(await response.text())
    const mail = messages.find(({ to }) => to === email)
    if (mail) return mail.code
    await pause(100)
  }
}
