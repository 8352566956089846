/** GET /admin/users by state, provider and date. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import type { User } from '../../../schemas/user.ts'
import { adminCall, asAdmin } from '../../support/admin.ts'
import { endingOfSuite } from '../../support/processes/ending.ts'
import { statusAndCode } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'

interface Page {
  users: User[]
  next_cursor?: string
}

suite('filters of GET /admin/users', () => {
  const ending = endingOfSuite()
  let app: App
  before(async () => {
    app = (await build(ending)).app
    const users: [string, object][] = [
      ['confirmed', { email_confirm: true }],
      ['unconfirmed', {}],
      ['banned', { email_confirm: true, ban_duration: '24h' }],
      ['formerly-banned', { email_confirm: true }],
      ['deleted', { email_confirm: true }],
    ]
    for (const [name, more] of users) {
      await adminCall(app, 'POST', '/admin/users', { email: `${name}@example.com`, ...more })
    }
    const change = (email: string, columns: object) =>
      app.db.updateTable('users').set(columns).where('email', '=', `${email}@example.com`).execute()
    await change('formerly-banned', { banned_until: new Date(0) })
    await change('deleted', { deleted_at: new Date() })
    await change('confirmed', { created_at: new Date('2020-01-01T00:00:00Z') })
    await app.db
      .updateTable('identities')
      .set({ provider: 'custom:corp' })
      .where('email', '=', 'confirmed@example.com')
      .execute()
  })

  const listNames = async (query: string) => {
    const { users } = await adminCall<Page>(app, 'GET', `/admin/users?${query}`)
    return users.map(({ email }) => String(email).split('@')[0]).toSorted()
  }

  const cases: [string, string[]][] = [
    ['state=confirmed', ['banned', 'confirmed', 'deleted', 'formerly-banned']],
    ['state=unconfirmed', ['unconfirmed']],
    ['state=banned', ['banned']],
    ['state=deleted', ['deleted']],
    ['state=anonymous', []],
    ['state=sso', []],
    ['state=invited', []],
    ['created_before=2021-01-01T00:00:00Z', ['confirmed']],
    ['created_after=2021-01-01T00:00:00Z', ['banned', 'deleted', 'formerly-banned', 'unconfirmed']],
    ['state=confirmed&q=banned', ['banned', 'formerly-banned']],
    ['provider=custom:corp&limit=10', ['confirmed']],
    ['provider=github', []],
  ]
  for (const [query, names] of cases) {
    test(`${query} lists ${names.join(', ') || 'no user'}`, async () => {
      assert.deepEqual(await listNames(query), names)
    })
  }

  test('paginates a filtered list without gaps or repetitions', async () => {
    const seen: string[] = []
    let cursor = ''
    do {
      const url = `/admin/users?state=confirmed&limit=1&cursor=${cursor}`
      const page: Page = await adminCall<Page>(app, 'GET', url)
      seen.push(...page.users.map(({ id }) => id))
      cursor = page.next_cursor ?? ''
    } while (cursor)
    assert.deepEqual([seen.length, new Set(seen).size], [4, 4])
  })

  test('rejects an unknown state, an invalid provider name and an invalid date', async () => {
    for (const query of ['state=asleep', "provider=x'y", 'created_after=yesterday']) {
      const response = await asAdmin(app, 'GET', `/admin/users?${query}`)
      assert.deepEqual(statusAndCode(response), [400, 'validation_failed'], query)
    }
  })
})
