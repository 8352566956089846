/**
 * `node bench/scim.ts [USERS] [GROUPS]`: provisions users and groups with SCIM, and creates as many users one by one as
 * an admin. Prints the time per user of both and their ratio. DATABASE_URL names an empty database.
 */
import { randomBytes } from 'node:crypto'

import { newClient, newOrganization, scimOn } from '../test/support/scim/clients.ts'
import { build } from '../test/support/server.ts'
import { adminToken } from '../test/support/users.ts'
import { migrateEmptyDatabase } from './empty-database.ts'

const [users = 10_000, groups = 200] = process.argv.slice(2).map(Number)
const connections = 8
const membersPerGroup = 50

await using ending = new AsyncDisposableStack()
const after = (stop: () => Promise<void>) => ending.defer(stop)
const database = await migrateEmptyDatabase()
const { app } = await build({ after }, { database, env: scimOn })
const organization_id = await newOrganization(app, 'corp.test')
const client = await newClient(app, { organization_id })
const authorization = `Bearer ${await adminToken(app)}`
const addresses = (kind: string) =>
  Array.from({ length: users }, (_, i) => `${kind}${i}-${randomBytes(4).toString('hex')}@corp.test`)

const ids: string[] = []
const provisioned = await timed(addresses('scim'), async (email) => {
  const { id } = await client.create({ userName: email, emails: [{ value: email }] })
  ids.push(id)
})
const created = await timed(addresses('admin'), async (email) => {
  const payload = { email, email_confirm: true }
  const response = await app.inject({
    method: 'POST',
    url: '/admin/users',
    headers: { authorization },
    payload,
  })
  if (response.statusCode !== 200) throw new Error(response.body)
})
const names = Array.from({ length: groups }, (_, i) => `Group ${i}`)
const grouped = await timed(names, async (name) => {
  const from = Math.floor(Math.random() * Math.max(1, ids.length - membersPerGroup))
  await client.createGroup(name, ids.slice(from, from + membersPerGroup))
})

const perUser = provisioned / users
const perAdmin = created / users
console.log(`${users} users by SCIM: ${perUser.toFixed(2)} ms each`)
console.log(`${users} users by an admin: ${perAdmin.toFixed(2)} ms each`)
console.log(`ratio: ${(perUser / perAdmin).toFixed(2)}`)
console.log(`${groups} groups of ${membersPerGroup}: ${(grouped / groups).toFixed(2)} ms each`)

/** The milliseconds of all, by several connections. */
async function timed<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<void>,
): Promise<number> {
  const waiting = items.values()
  const start = performance.now()
  const work = async () => {
    for (const item of waiting) await act(item)
  }
  await Promise.all(Array.from({ length: connections }, work))
  return performance.now() - start
}
