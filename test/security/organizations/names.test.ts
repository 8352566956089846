/** Names of organizations are in invitations, which any user may send to any address. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import {
  adminOk,
  as,
  createOwner,
  ok,
  organizationsOn,
} from '../../support/organizations/organizations.ts'
import { endingOfSuite } from '../../support/processes/ending.ts'
import { statusAndCode } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'

suite('name of an organization', () => {
  const ending = endingOfSuite()
  let app: App
  before(async () => {
    app = (await build(ending, { env: organizationsOn })).app
  })

  const rejected = {
    'a line break': 'Acme\r\n\r\nYour account is locked.',
    'a link': 'Acme. Confirm at https://evil.example/login',
    'a link without a scheme': 'Acme: WWW.evil.example',
    'reordered text': 'Acme \u202Eemca',
    'an invisible character': 'Ac\u200Bme',
    'a domain': 'Your parcel: evil.com/0',
    'a domain of another script': 'Посылка.рф',
    'a domain with an invisible joiner': 'evil\u200D.\u200Dcom',
    'a domain with another dot': 'evil\u3002com',
    'a domain in full width': 'ｅｖｉｌ．ｃｏｍ',
    'an IP address': 'Log in at 203.0.113.7/x',
    'blanks only': '  ',
  }
  for (const [what, name] of Object.entries(rejected)) {
    test(`is rejected with ${what} at creation and at change`, async () => {
      const { owner, organization } = await createOwner(app)
      const created = await as(app, owner, 'POST /organizations', { name })
      assert.deepEqual(statusAndCode(created), [422, 'validation_failed'])
      const changed = await as(app, owner, `PUT /organizations/${organization.id}`, { name })
      assert.deepEqual(statusAndCode(changed), [422, 'validation_failed'])
    })
  }

  test('may contain dots, slashes, joiners and emoji', async () => {
    const names = ['Müller e.V.', 'U.S.A. No.1', 'A/B & Co. KG', 'می\u200Cخواهم', '👩\u200D💻 Ltd']
    for (const name of names) await createOwner(app, name)
  })

  test('may be a domain when an admin of the server chooses it, and stays valid then', async () => {
    const { owner, organization } = await createOwner(app)
    const path = `/organizations/${organization.id}`
    const name = 'Booking.com'
    await adminOk(app, `PUT /admin${path}`, { name })
    await adminOk(app, 'POST /admin/organizations', { name })
    await ok(app, owner, `PUT ${path}`, { name, metadata: { a: 1 } })
    const changed = await as(app, owner, `PUT ${path}`, { name: 'Booking.org' })
    assert.deepEqual(statusAndCode(changed), [422, 'validation_failed'])
  })
})
