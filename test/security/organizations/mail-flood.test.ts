/** Members send emails to addresses of their choice: limits outlive the organization that sent them. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { waitForIdleQueue } from '../../support/messages/mail-journeys.ts'
import {
  adminOk,
  as,
  createMember,
  createOwner,
  ok,
} from '../../support/organizations/organizations.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { statusAndCode } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { newAddress } from '../../support/users.ts'
import { left, withFullQuotas } from '../throttling/quota-settings.ts'

const limits = {
  AUTH_ORGANIZATIONS_ENABLED: 'true',
  AUTH_MAILER_AUTOCONFIRM: 'true',
  AUTH_RATE_LIMIT_ORGANIZATION_INVITATIONS: '12',
  AUTH_RATE_LIMIT_EMAIL_SENT: '60',
}
const maxPerRecipient = 10
const tooMany = [429, 'over_organization_invitation_limit']

suite('emails of organizations', () => {
  const servers = sharedServers()
  const server = async (more: Record<string, string> = {}) =>
    withFullQuotas(await servers({ ...limits, ...more }))

  const invite = (app: App, owner: Session, id: string, email = newAddress()) =>
    as(app, owner, `POST /organizations/${id}/invitations`, { email })

  test('count for the member who sends them, also from the next organization', async () => {
    const { app } = await server()
    const { owner, organization } = await createOwner(app)
    for (let sent = 0; sent < 12; sent++) {
      assert.equal((await invite(app, owner, organization.id)).statusCode, 201)
    }
    await ok(app, owner, `DELETE /organizations/${organization.id}`)
    const next = await ok<{ id: string }>(app, owner, 'POST /organizations', { name: 'Acme 2' })
    const rejected = await invite(app, owner, next.id)
    assert.deepEqual(statusAndCode(rejected), tooMany)
    assert.ok(Number(rejected.headers['retry-after']) > 0)
  })

  test('about a role are sent once an hour for the same role, and up to a limit for others', async () => {
    const enabled = { AUTH_MAILER_NOTIFICATIONS_ORGANIZATION_ROLE_ENABLED: 'true' }
    const built = await server(enabled)
    const { app } = built
    const { owner, organization } = await createOwner(app)
    const member = await createMember(app, organization)
    const path = `/organizations/${organization.id}`
    const count = async () => {
      await waitForIdleQueue(built)
      return built.mail.messages.filter(({ to }) => to === member.email).length
    }
    const give = (role: string) => ok(app, owner, `PUT ${path}/members/${member.user.id}`, { role })
    for (let times = 0; times < 5; times++) {
      await give('admin')
      await give('member')
    }
    assert.equal(await count(), 2)
    for (let number = 0; number < maxPerRecipient + 5; number++) {
      await ok(app, owner, `POST ${path}/roles`, { name: `role-${number}` })
      await give(`role-${number}`)
    }
    assert.equal(await count(), maxPerRecipient)
    // Other owners are told of each new one.
    await give('owner')
    assert.equal(await count(), maxPerRecipient + 1)
  })

  test('count for the recipient, from all organizations and members', async () => {
    const { app } = await server()
    const email = newAddress()
    for (let sent = 0; sent < maxPerRecipient; sent++) {
      const { owner, organization } = await createOwner(app)
      assert.equal((await invite(app, owner, organization.id, email)).statusCode, 201)
      await ok(app, owner, `DELETE /organizations/${organization.id}`)
    }
    const { owner, organization } = await createOwner(app)
    assert.deepEqual(statusAndCode(await invite(app, owner, organization.id, email)), tooMany)
    const plus = email.replace('@', '+1@')
    assert.equal((await invite(app, owner, organization.id, plus)).statusCode, 201)
  })

  test('count in AUTH_RATE_LIMIT_EMAIL_SENT for the server and the network of the client', async () => {
    const { app } = await server()
    const invitations: string[] = []
    for (let sent = 0; sent < 45; sent++) {
      const { owner, organization } = await createOwner(app)
      invitations.push(statusAndCode(await invite(app, owner, organization.id)).join(' '))
    }
    assert.equal(await left({ app }, 'email invitation'), 20)
    assert.equal(invitations.filter((each) => each === '201 ').length, 40)
    assert.equal(invitations.at(-1), '429 over_email_send_rate_limit')
  })

  test('count when they verify a domain', async () => {
    const { app } = await server()
    const domain = `x${crypto.randomUUID().slice(0, 8)}.example`
    const address = `webmaster@${domain}`
    const statuses: (number | string)[] = []
    for (let sent = 0; sent <= maxPerRecipient; sent++) {
      const { owner, organization } = await createOwner(app)
      const path = `/organizations/${organization.id}/domains`
      const { id } = await ok<{ id: string }>(app, owner, `POST ${path}`, { domain })
      const response = await as(app, owner, `POST ${path}/${id}/send_code`, { address })
      statuses.push(response.statusCode)
    }
    assert.deepEqual(
      statuses.filter((status) => status === 429),
      [429],
    )
  })

  test('do not count when an admin of the server sends them', async () => {
    const { app } = await server()
    const email = newAddress()
    const { organization } = await createOwner(app)
    const path = `/admin/organizations/${organization.id}/invitations`
    for (let sent = 0; sent <= maxPerRecipient; sent++) {
      await adminOk(app, `POST ${path}`, { email })
    }
    assert.equal(await left({ app }, 'email invitation'), undefined)
  })
})
