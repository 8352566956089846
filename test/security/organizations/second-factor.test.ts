/** A stolen password of a member changes no organization while the member has a second factor. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { addTotp, stepUp } from '../../support/factors/factors.ts'
import { as, createOwner, ok, organizationsOn } from '../../support/organizations/organizations.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { statusAndCode } from '../../support/requests.ts'
import { newAddress, signedIn } from '../../support/users.ts'
import { endpoints, fillPath } from './endpoints.ts'
import { tenant } from './tenants.ts'

/** Bodies that would change something, for endpoints whose other body is invalid. */
const bodies: Record<string, object> = {
  'POST /organizations/{organization_id}/invitations': { email: newAddress() },
  'POST /organizations/{organization_id}/roles': { name: 'helper', permissions: [] },
  'POST /organizations/{organization_id}/domains': { domain: 'new.example.com' },
  'POST /organizations/{organization_id}/domains/{domain_id}/send_code': {
    address: 'admin@guarded.example.com',
  },
}

suite('members with a second factor', () => {
  const serverFor = sharedServers()
  const server = async () => (await serverFor(organizationsOn)).app

  test('change an organization only after verifying it', async () => {
    const app = await server()
    const { id, users, ids } = await tenant(app, 'guarded', ['audit:read'])
    const { owner } = users
    const verified = await stepUp(app, owner, await addTotp(app, owner))
    const byPassword = await signedIn(app, owner.user.email)
    for (const [name, { body }] of Object.entries(endpoints)) {
      const response = await as(app, byPassword, fillPath(name, id, ids), bodies[name] ?? body)
      if (name.startsWith('GET')) assert.equal(response.statusCode, 200, name)
      else assert.deepEqual(statusAndCode(response), [403, 'insufficient_aal'], name)
    }
    await ok(app, verified, `PUT /organizations/${id}`, { name: 'Renamed' })
  })

  test('without one change it with a password', async () => {
    const app = await server()
    const { owner, organization } = await createOwner(app)
    const path = `POST /organizations/${organization.id}/invitations`
    await ok(app, owner, path, { email: newAddress() })
  })
})
