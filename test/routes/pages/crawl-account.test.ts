/**
 * Follows every link and presses every button of the sign-in and of the account pages, also with a second factor and in
 * a session that is too old. No step ends at an error or at a page without a way on.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { explorer } from './crawl/explore.ts'

/** Of the account page. */
const names = [
  'profile',
  'email',
  'phone',
  'username',
  'password',
  'factors',
  'passkeys',
  'linked',
  'devices',
  'apps',
  'data',
  'delete',
]

suite('every way through the account pages', () => {
  const goes = explorer()

  test('goes on from the sign-in page', async () => {
    await goes({ start: '/sign-in', accounts: 0, scope: /^\/(sign-in|verify|authorize)/ }, 50)
  })

  test('goes on from the account page, which leads to all of its pages', async () => {
    const scope = /^\/account$/
    const pages = await goes({ start: '/account', accounts: 1, scope }, 10)
    // That of the deletion is behind the one of the data.
    for (const name of names.filter((name) => name !== 'delete')) {
      assert.ok(pages.has(`/account/${name}`), name)
    }
  })

  for (const name of names) {
    test(`goes on from the page ${name} of the account`, async () => {
      const start = `/account/${name}`
      await goes({ start, accounts: 1, scope: new RegExp(`^${start}$`) }, 2)
    })
  }

  test('goes on from the account page of a user with a second factor', async () => {
    const scope = /^\/(sign-in|account$|account\/factors)/
    await goes({ start: '/account', accounts: 1, state: 'factor', isBrief: true, scope }, 40)
  })

  test('goes on from the account page in a session that is too old', async () => {
    const scope = /^\/account/
    const scenario = { accounts: 1, state: 'old session', isBrief: true, scope } as const
    const pages = await goes({ start: '/account', ...scenario }, 40)
    assert.ok(pages.has('/account/confirm'))
  })

  test('goes on from the pages of a device and of a sign-out', async () => {
    const scope = /^\/oauth/
    await goes({ start: 'device', accounts: 1, scope }, 5)
    await goes({ start: '/oauth/logout', accounts: 1, scope }, 2)
    await goes({ start: 'device', accounts: 0 }, 10)
  })
})
