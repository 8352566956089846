/** Names of organizations are in invitations, which any user may send to any address. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { as, createOwner, organizationsOn } from '../../support/organizations/organizations.ts'
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
    for (const name of ['Booking.com, Inc.', 'A/B & Co. KG', 'می\u200Cخواهم', '👩\u200D💻 Ltd']) {
      await createOwner(app, name)
    }
  })
})
