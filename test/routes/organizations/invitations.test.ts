import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { asAdmin } from '../../support/admin.ts'
import { nextEmail } from '../../support/messages/mail-journeys.ts'
import {
  adminOk,
  as,
  createMember,
  createOwner,
  ok,
  organizationsOn,
} from '../../support/organizations/organizations.ts'
import { endingOfSuite } from '../../support/processes/ending.ts'
import { statusAndCode } from '../../support/requests.ts'
import { type App, type Built, build } from '../../support/server.ts'
import {
  newAddress,
  signedIn,
  signedInAdminCreatedUser,
  signUp,
  signUpUser,
} from '../../support/users.ts'

interface Invitation {
  id: string
  email: string
  role: string
}

suite('invitations of an organization', () => {
  const ending = endingOfSuite()
  let server: Built
  before(async () => {
    const env = {
      ...organizationsOn,
      AUTH_URI_ALLOW_LIST: 'https://app.example/**',
      AUTH_RATE_LIMIT_ORGANIZATION_INVITATIONS: '3',
    }
    server = await build(ending, { env })
  })

  async function invited(email = newAddress(), more: object = {}) {
    const { app } = server
    const { owner, organization } = await createOwner(app)
    const path = `/organizations/${organization.id}/invitations`
    const since = server.mail.messages.length
    const invitation = await ok<Invitation>(app, owner, `POST ${path}`, { email, ...more })
    const { mail } = await nextEmail(server, email, since)
    const link = /https?:\/\/\S+organization_invitation=\S+/.exec(mail.text ?? '')?.[0] ?? ''
    const token = new URLSearchParams(new URL(link).hash.slice(1)).get('organization_invitation')
    return { app, owner, organization, path, invitation, email, link, token, mail }
  }

  async function userWith(email: string) {
    return (await signedInAdminCreatedUser(server.app, email)).session
  }

  const accept = 'POST /organizations/invitations/accept'

  test('are sent by email, and their token makes the user a member once', async () => {
    const redirect_to = 'https://app.example/join'
    const { app, owner, organization, email, token, link, mail } = await invited(newAddress(), {
      role: 'admin',
      redirect_to,
    })
    assert.equal(mail.subject, 'You are invited to Acme')
    assert.ok(mail.text?.includes(owner.email))
    assert.ok(link.startsWith(`${redirect_to}#`))
    const user = await userWith(email)
    await ok(app, user, accept, { token })
    const { organizations } = await ok<{ organizations: object[] }>(app, user, 'GET /organizations')
    assert.partialDeepStrictEqual(organizations, [
      { id: organization.id, role: 'admin', joined_by: 'invitation' },
    ])
    const again = await as(app, user, accept, { token })
    assert.deepEqual(statusAndCode(again), [404, 'organization_invitation_not_found'])
  })

  test('link to the site URL when the redirect is not allowed', async () => {
    const { link } = await invited(newAddress(), { redirect_to: 'https://evil.example/' })
    assert.ok(!link.includes('evil.example'))
  })

  test('are rejected for a user with another address, and stay valid', async () => {
    const { app, email, token } = await invited()
    const other = await signUpUser(app)
    const rejected = await as(app, other, accept, { token })
    assert.deepEqual(statusAndCode(rejected), [403, 'organization_invitation_for_another'])
    await ok(app, await userWith(email), accept, { token })
  })

  test('are listed and accepted without the token for the confirmed address', async () => {
    const { app, email, organization } = await invited()
    const user = await userWith(email)
    interface List {
      invitations: { id: string; organization: { id: string } }[]
    }
    const { invitations } = await ok<List>(app, user, 'GET /organizations/invitations')
    assert.deepEqual(
      invitations.map(({ organization: { id } }) => id),
      [organization.id],
    )
    await ok(app, user, `POST /organizations/invitations/${invitations[0]?.id}/accept`)
    await ok(app, user, `GET /organizations/${organization.id}`)
  })

  test('are hidden from a user whose address is unconfirmed or was asserted by an SSO provider', async () => {
    for (const change of [{ email_confirmed_at: null }, { is_sso_user: true }]) {
      const { app, email, invitation } = await invited()
      const user = await userWith(email)
      await app.db.updateTable('users').set(change).where('id', '=', user.user.id).execute()
      assert.deepEqual(await ok(app, user, 'GET /organizations/invitations'), { invitations: [] })
      const path = `POST /organizations/invitations/${invitation.id}/accept`
      const rejected = await as(app, user, path)
      assert.deepEqual(statusAndCode(rejected), [404, 'organization_invitation_not_found'])
    }
  })

  test('need the token for an address that was confirmed without verification', async () => {
    const { app, email, invitation, token } = await invited()
    await signUp(app, { email })
    const user = await signedIn(app, email)
    assert.deepEqual(await ok(app, user, 'GET /organizations/invitations'), { invitations: [] })
    for (const what of ['accept', 'decline']) {
      const path = `POST /organizations/invitations/${invitation.id}/${what}`
      const rejected = await as(app, user, path)
      assert.deepEqual(statusAndCode(rejected), [404, 'organization_invitation_not_found'])
    }
    await ok(app, user, accept, { token })
  })

  test('can be declined', async () => {
    const { app, email, invitation, token } = await invited()
    const user = await userWith(email)
    await ok(app, user, `POST /organizations/invitations/${invitation.id}/decline`)
    const late = await as(app, user, accept, { token })
    assert.deepEqual(statusAndCode(late), [404, 'organization_invitation_not_found'])
  })

  test('are rejected after they were revoked', async () => {
    const { app, owner, path, email, invitation, token } = await invited()
    await ok(app, owner, `DELETE ${path}/${invitation.id}`)
    const late = await as(app, await userWith(email), accept, { token })
    assert.deepEqual(statusAndCode(late), [404, 'organization_invitation_not_found'])
  })

  const losses: Record<string, (app: App, member: string, id: string) => Promise<unknown>> = {
    'was removed': (app, path) => adminOk(app, `DELETE ${path}`),
    'has a lower role': (app, path) => adminOk(app, `PUT ${path}`, { role: 'member' }),
    'was suspended': (app, _, id) =>
      app.db
        .updateTable('postern_organization_members')
        .set({ status: 'suspended' })
        .where('user_id', '=', id)
        .execute(),
    'was deleted': (app, _, id) => asAdmin(app, 'DELETE', `/admin/users/${id}`),
    'was softly deleted': (app, _, id) =>
      asAdmin(app, 'DELETE', `/admin/users/${id}`, { should_soft_delete: true }),
  }
  for (const [what, lose] of Object.entries(losses)) {
    test(`are rejected after the member who invited ${what}`, async () => {
      const { app, organization } = await invited()
      const inviter = await createMember(app, organization, 'admin')
      const email = newAddress()
      const path = `/organizations/${organization.id}/invitations`
      const { id } = await ok<{ id: string }>(app, inviter, `POST ${path}`, {
        email,
        role: 'admin',
      })
      const member = `/admin/organizations/${organization.id}/members/${inviter.user.id}`
      await lose(app, member, inviter.user.id)
      const user = await userWith(email)
      const late = await as(app, user, `POST /organizations/invitations/${id}/accept`)
      assert.deepEqual(statusAndCode(late), [404, 'organization_invitation_not_found'])
      const { organizations } = await ok<{ organizations: object[] }>(
        app,
        user,
        'GET /organizations',
      )
      assert.deepEqual(organizations, [])
    })
  }

  test('are rejected after the address was invited again', async () => {
    const { app, owner, path, email, token } = await invited()
    await ok(app, owner, `POST ${path}`, { email })
    const { invitations } = await ok<{ invitations: object[] }>(app, owner, `GET ${path}`)
    assert.equal(invitations.length, 1)
    const late = await as(app, await userWith(email), accept, { token })
    assert.deepEqual(statusAndCode(late), [404, 'organization_invitation_not_found'])
  })

  test('are rejected after AUTH_ORGANIZATIONS_INVITATION_EXP', async () => {
    const { app, email, invitation, token } = await invited()
    const user = await userWith(email)
    await app.db
      .updateTable('postern_organization_invitations')
      .set({ expires_at: new Date() })
      .where('id', '=', invitation.id)
      .execute()
    const late = await as(app, user, accept, { token })
    assert.deepEqual(statusAndCode(late), [404, 'organization_invitation_not_found'])
  })

  test('are limited by AUTH_RATE_LIMIT_ORGANIZATION_INVITATIONS', async () => {
    const { app, owner, path } = await invited()
    const send = () => as(app, owner, `POST ${path}`, { email: newAddress() })
    await send()
    await send()
    const fourth = await send()
    assert.deepEqual(statusAndCode(fourth), [429, 'over_organization_invitation_limit'])
    assert.ok(Number(fourth.headers['retry-after']) > 0)
  })

  test('are rejected for a member, and while joining by invitation is disabled', async () => {
    const { app, owner, organization, path } = await invited()
    const member = await createMember(app, organization)
    const again = await as(app, owner, `POST ${path}`, { email: member.email })
    assert.deepEqual(statusAndCode(again), [409, 'member_exists'])
    const off = { joining: { invitation: false } }
    await ok(app, owner, `PUT /organizations/${organization.id}`, off)
    const rejected = await as(app, owner, `POST ${path}`, { email: newAddress() })
    assert.deepEqual(statusAndCode(rejected), [403, 'organization_join_disabled'])
  })

  test('store the hash of their token only', async () => {
    const { app, token, invitation } = await invited()
    const row = await app.db
      .selectFrom('postern_organization_invitations')
      .selectAll()
      .where('id', '=', invitation.id)
      .executeTakeFirstOrThrow()
    assert.ok(token && !JSON.stringify(row).includes(token))
  })
})
