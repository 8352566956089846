/** An address that a SCIM client, or an admin who changed it, supplied is not one that its holder has proven. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { asAdmin } from '../../support/admin.ts'
import { consoleBrowser } from '../../support/console-browser.ts'
import {
  emailAfter,
  nextEmail,
  open,
  redirectParams,
} from '../../support/messages/mail-journeys.ts'
import { adminOk, as, ok } from '../../support/organizations/organizations.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, getUser, statusAndCode } from '../../support/requests.ts'
import {
  addDomain,
  findScimAccount,
  newClient,
  newOrganization,
  scimOn,
} from '../../support/scim/clients.ts'
import type { Built } from '../../support/server.ts'
import { adminCreatedUser, password, signedIn, signIn } from '../../support/users.ts'

interface Listed {
  organizations: { id: string }[]
}
interface Invitations {
  invitations: { id: string }[]
}

const env = { ...scimOn, AUTH_CONSOLE_ENABLED: 'true', AUTH_PAGES_ENABLED: 'true' }

/** Accounts that have the address without a proof. */
const accounts: Record<string, (server: Built, email: string) => Promise<string>> = {
  async 'a SCIM client asserted'({ app }, email) {
    const domain = email.split('@')[1] ?? ''
    const organization = await newOrganization(app, domain)
    const client = await newClient(app, { organization_id: organization })
    const { id } = await client.create({ userName: email, emails: [{ value: email }] })
    const { user_id } = await findScimAccount(app, id)
    // The organization loses the domain to another one.
    await adminOk(app, `DELETE /admin/organizations/${organization}`)
    await adminOk(app, `POST /admin/organizations/${organization}/purge`)
    await asAdmin(app, 'PUT', `/admin/users/${user_id}`, { password })
    return user_id ?? ''
  },
  async 'an admin set on a confirmed account'({ app }, email) {
    const before = `${crypto.randomUUID()}@home.test`
    const { id } = await adminCreatedUser(app, { email: before, password, email_confirm: true })
    await asAdmin(app, 'PUT', `/admin/users/${id}`, { email })
    return id
  },
}

suite('an address', () => {
  const servers = sharedServers()

  async function proven(server: Built, email: string): Promise<Session> {
    const { app } = server
    const message = await emailAfter(server, email, () => call(app, '/magiclink', { email }))
    const { access_token = '' } = redirectParams(await open(app, message)).fragment
    return { access_token } as Session
  }

  for (const [what, make] of Object.entries(accounts)) {
    test(`that ${what} joins no organization before its holder has proven it`, async () => {
      const server = await servers(env)
      const { app } = server
      const domain = `${crypto.randomUUID()}.test`
      const email = `ann@${domain}`
      const id = await make(server, email)
      const other = await newOrganization(app, `other-${domain}`)
      await addDomain(app, other, domain)
      await adminOk(app, `PUT /admin/organizations/${other}`, { joining: { domain: 'automatic' } })
      const inviting = await newOrganization(app, `inviting-${domain}`)
      const since = server.mail.messages.length
      await adminOk(app, `POST /admin/organizations/${inviting}/invitations`, { email })
      await nextEmail(server, email, since)

      const session = await signedIn(app, email)
      assert.deepEqual((await ok<Listed>(app, session, 'GET /organizations')).organizations, [])
      const invited = await ok<Invitations>(app, session, 'GET /organizations/invitations')
      assert.deepEqual(invited.invitations, [])
      const joined = await as(app, session, `POST /organizations/${other}/join`)
      assert.deepEqual(statusAndCode(joined), [403, 'organization_join_disabled'])

      const holder = await proven(server, email)
      assert.equal((await getUser(app, holder)).json().id, id)
      const { organizations } = await ok<Listed>(app, holder, 'GET /organizations')
      assert.deepEqual(
        organizations.map((each) => each.id),
        [other],
      )
      const listed = await ok<Invitations>(app, holder, 'GET /organizations/invitations')
      assert.equal(listed.invitations.length, 1)
    })

    test(`that ${what} gets a role on the server by a link, which removes what was set before`, async () => {
      const server = await servers(env)
      const { app } = server
      const email = `ann@${crypto.randomUUID()}.test`
      const id = await make(server, email)
      const made = await asAdmin(app, 'POST', '/admin/admins', { email, role: 'owner' })
      assert.equal(made.statusCode, 202, made.body)
      const token = String(made.json().link).split('#first-admin=')[1] ?? ''
      const redeemed = await consoleBrowser(app).redeem({ token, password: `${password} 2` })
      assert.equal(redeemed.statusCode, 200, redeemed.body)
      assert.equal(redeemed.json().user.id, id)
      assert.deepEqual(statusAndCode(await signIn(app, { email })), [400, 'invalid_credentials'])
    })
  }
})
