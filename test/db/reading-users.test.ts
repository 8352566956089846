/** The cost of requests for one user does not grow with the number of users. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { sql } from 'kysely'

import { asAdmin } from '../support/admin.ts'
import { sharedServers } from '../support/processes/shared-servers.ts'
import { changeUser, getUser, refresh, verify } from '../support/requests.ts'
import type { App } from '../support/server.ts'
import { unnamedStatements, watchStatements } from '../support/statements.ts'
import { autoconfirm, newAddress, password, signIn, signUp, signUpUser } from '../support/users.ts'

const requests: Record<string, (app: App) => Promise<() => Promise<unknown>>> = {
  'a sign-up': async (app) => () => signUp(app, { email: newAddress() }),
  'a sign-up with a taken email': async (app) => {
    const { email } = await signUpUser(app)
    return () => signUp(app, { email })
  },
  'a sign-in': async (app) => {
    const { email } = await signUpUser(app)
    return () => signIn(app, { email })
  },
  'GET /user': async (app) => {
    const session = await signUpUser(app)
    return () => getUser(app, session)
  },
  'a refresh': async (app) => {
    const { refresh_token } = await signUpUser(app)
    return () => refresh(app, refresh_token)
  },
  'an email change': async (app) => {
    const { access_token } = await signUpUser(app)
    return () => changeUser(app, access_token, { email: newAddress() })
  },
  'a user creation by an admin': async (app) => () =>
    asAdmin(app, 'POST', '/admin/users', { email: newAddress(), password, email_confirm: true }),
  'opening a link': async (app) => {
    const { type, hashed_token } = await newLink(app)
    return () => verified(app, { type, token_hash: hashed_token })
  },
  'verifying a code': async (app) => {
    const { type, email, email_otp } = await newLink(app)
    return () => verified(app, { type, email, token: email_otp })
  },
  'a user request by an admin': async (app) => {
    const { user } = await signUpUser(app)
    return () => asAdmin(app, 'GET', `/admin/users/${user.id}`)
  },
}

async function newLink(app: App) {
  const { email } = await signUpUser(app)
  const type = 'magiclink'
  const link = await asAdmin(app, 'POST', '/admin/generate_link', { type, email })
  assert.equal(link.statusCode, 200, link.body)
  return { ...link.json(), type, email }
}

async function verified(app: App, verification: object) {
  const { statusCode, body } = await verify(app, verification)
  assert.equal(statusCode, 200, body)
}

const tables = ['users', 'identities', 'sessions']
/** What few rows have in common. The audience is every user's. */
const selective = /\b(id|user_id|email|phone)\b/

/** With a million users, and without statistics: a plan made then is kept while the table grows. */
const sizes = [
  { reltuples: 1e6, relpages: 1 },
  { reltuples: -1, relpages: 0 },
]
type Size = (typeof sizes)[number]

interface Node {
  'Node Type': string
  'Relation Name'?: string
  'Index Cond'?: string
  Plans?: Node[]
}

suite('index use by user', () => {
  const serverFor = sharedServers()

  for (const [name, prepare] of Object.entries(requests)) {
    test(`${name} scans no table of users, identities or sessions`, async () => {
      const { app } = await serverFor({ ...autoconfirm, ...unnamedStatements })
      const request = await prepare(app)
      const texts = await watchStatements(app, request)
      const requested = texts.filter((text) => tables.some((table) => text.includes(`"${table}"`)))
      assert.ok(requested.length > 0, texts.join('\n'))
      for (const text of requested) {
        for (const size of sizes) {
          const wide = findScans(await explainQuery(app, text, size)).filter(
            (scan) => !isSelective(scan),
          )
          assert.deepEqual(wide, [], text)
        }
      }
    })
  }
})

/** How Postgres would run a statement in tables of this size. */
async function explainQuery(app: App, text: string, { reltuples, relpages }: Size): Promise<Node> {
  const trx = await app.db.startTransaction().execute()
  try {
    // It assumes as many rows per page as it counted last.
    await sql`update pg_class set reltuples = ${reltuples}, relpages = ${relpages}
      where oid in ('auth.users'::regclass, 'auth.identities'::regclass, 'auth.sessions'::regclass)`.execute(
      trx,
    )
    const { rows } = await sql<{ 'QUERY PLAN': { Plan: Node }[] }>`${sql.raw(
      `explain (generic_plan, format json) ${text}`,
    )}`.execute(trx)
    const plan = rows[0]?.['QUERY PLAN'][0]?.Plan
    assert.ok(plan)
    return plan
  } finally {
    await trx.rollback().execute()
  }
}

function findScans(node: Node): Node[] {
  const isScan = node['Node Type'].endsWith('Scan') && tables.includes(node['Relation Name'] ?? '')
  return [...(isScan ? [node] : []), ...(node.Plans ?? []).flatMap(findScans)]
}

/** A bitmap's condition is that of the indexes below it. */
function isSelective(scan: Node): boolean {
  const { 'Index Cond': condition, Plans: below = [] } = scan
  return condition === undefined ? below.some(isSelective) : selective.test(condition)
}
