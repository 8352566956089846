/** Requests for one person must not cost more the more people there are. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { sql } from 'kysely'

import { asAdmin } from '../support/admin.ts'
import { autoconfirm, newAddress, newPerson, password, signIn, signUp } from '../support/people.ts'
import { changeUser, getUser, refresh, verify } from '../support/requests.ts'
import type { App } from '../support/server.ts'
import { sharedServers } from '../support/shared-servers.ts'
import { statementsOf, unnamedStatements } from '../support/statements.ts'

const requests: Record<string, (app: App) => Promise<() => Promise<unknown>>> = {
  'a sign-up': async (app) => () => signUp(app, { email: newAddress() }),
  'a sign-up with an address that is taken': async (app) => {
    const { email } = await newPerson(app)
    return () => signUp(app, { email })
  },
  'a sign-in': async (app) => {
    const { email } = await newPerson(app)
    return () => signIn(app, { email })
  },
  'GET /user': async (app) => {
    const session = await newPerson(app)
    return () => getUser(app, session)
  },
  'a refresh': async (app) => {
    const { refresh_token } = await newPerson(app)
    return () => refresh(app, refresh_token)
  },
  'a change of the address': async (app) => {
    const { access_token } = await newPerson(app)
    return () => changeUser(app, access_token, { email: newAddress() })
  },
  'a person made by an admin': async (app) => () =>
    asAdmin(app, 'POST', '/admin/users', { email: newAddress(), password, email_confirm: true }),
  'a link that is opened': async (app) => {
    const { type, hashed_token } = await newLink(app)
    return () => verified(app, { type, token_hash: hashed_token })
  },
  'a code that is typed': async (app) => {
    const { type, email, email_otp } = await newLink(app)
    return () => verified(app, { type, email, token: email_otp })
  },
  'a person asked for by an admin': async (app) => {
    const { user } = await newPerson(app)
    return () => asAdmin(app, 'GET', `/admin/users/${user.id}`)
  },
}

async function newLink(app: App) {
  const { email } = await newPerson(app)
  const type = 'magiclink'
  const link = await asAdmin(app, 'POST', '/admin/generate_link', { type, email })
  assert.equal(link.statusCode, 200, link.body)
  return { ...link.json(), type, email }
}

async function verified(app: App, proof: object) {
  const { statusCode, body } = await verify(app, proof)
  assert.equal(statusCode, 200, body)
}

const tables = ['users', 'identities', 'sessions']
/** What few rows have in common. The audience is everybody's. */
const selective = /\b(id|user_id|email|phone)\b/

/** With a million people, and before anybody has counted: a plan that is made then is kept while the table grows. */
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

suite('people are found by an index', () => {
  const serverFor = sharedServers()

  for (const [name, prepare] of Object.entries(requests)) {
    test(`${name} reads no table of people, identities or sessions from end to end`, async () => {
      const { app } = await serverFor({ ...autoconfirm, ...unnamedStatements })
      const request = await prepare(app)
      const texts = await statementsOf(app, request)
      const asked = texts.filter((text) => tables.some((table) => text.includes(`"${table}"`)))
      assert.ok(asked.length > 0, texts.join('\n'))
      for (const text of asked) {
        for (const size of sizes) {
          const wide = scansOf(await planOf(app, text, size)).filter((scan) => !isSelective(scan))
          assert.deepEqual(wide, [], text)
        }
      }
    })
  }
})

/** How Postgres would run a statement in tables of this size. */
async function planOf(app: App, text: string, { reltuples, relpages }: Size): Promise<Node> {
  const trx = await app.db.startTransaction().execute()
  try {
    // It reckons with as many rows a page as it counted last.
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

function scansOf(node: Node): Node[] {
  const isScan = node['Node Type'].endsWith('Scan') && tables.includes(node['Relation Name'] ?? '')
  return [...(isScan ? [node] : []), ...(node.Plans ?? []).flatMap(scansOf)]
}

/** A bitmap's condition is that of the indexes below it. */
function isSelective(scan: Node): boolean {
  const { 'Index Cond': condition, Plans: below = [] } = scan
  return condition === undefined ? below.some(isSelective) : selective.test(condition)
}
