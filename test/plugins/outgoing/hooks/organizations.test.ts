/** BEFORE_ORGANIZATION_JOIN: who may become a member. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { nextEmail } from '../../../support/messages/mail-journeys.ts'
import {
  as,
  createOwner,
  ok,
  organizationsOn,
} from '../../../support/organizations/organizations.ts'
import { statusAndCode } from '../../../support/requests.ts'
import {
  addOwner,
  findMemberRole,
  findScimAccount,
  scimError,
  scimServer,
  userSchema,
} from '../../../support/scim/clients.ts'
import { build } from '../../../support/server.ts'
import { adminCreatedUser, newAddress, signedIn, signUp } from '../../../support/users.ts'
import { startHookReceiver } from '../../../support/webhooks/hook-receiver.ts'

suite('before organization join hook', () => {
  async function invited(t: TestContext) {
    const receiver = await startHookReceiver(t)
    const env = { ...organizationsOn, ...receiver.env('BEFORE_ORGANIZATION_JOIN') }
    const server = await build(t, { env })
    const { app } = server
    const { owner, organization } = await createOwner(app)
    const email = newAddress()
    await ok(app, owner, `POST /organizations/${organization.id}/invitations`, { email })
    const { mail } = await nextEmail(server, email)
    const token = /organization_invitation=([\w-]+)/.exec(mail.text ?? '')?.[1]
    await signUp(app, { email })
    const user = await signedIn(app, email)
    const accept = () => as(app, user, 'POST /organizations/invitations/accept', { token })
    return { app, receiver, organization, user, accept }
  }

  test('receives the organization, the user and the role', async (t) => {
    const { receiver, organization, user, accept } = await invited(t)
    assert.equal((await accept()).statusCode, 200)
    const [call] = receiver.calls
    const { metadata, ...payload } = call?.event ?? assert.fail()
    const { id, slug, name } = organization
    assert.equal(metadata.name, 'before-organization-join')
    assert.deepEqual(payload, {
      organization: { id, slug, name },
      user: { id: user.user.id, email: user.user.email },
      role: 'member',
      joined_by: 'invitation',
    })
  })

  test('rejects a user with its message, and the invitation stays open', async (t) => {
    const { app, receiver, organization, user, accept } = await invited(t)
    receiver.answer({ error: { http_code: 403, message: 'The contract has no seat left' } })
    const rejected = await accept()
    assert.equal(rejected.statusCode, 403)
    assert.match(rejected.body, /The contract has no seat left/)
    const read = await as(app, user, `GET /organizations/${organization.id}`)
    assert.deepEqual(statusAndCode(read), [404, 'organization_not_found'])
    receiver.answer({})
    assert.equal((await accept()).statusCode, 200)
  })

  test('is called for a user whom a SCIM client adds, and can reject them', async (t) => {
    const receiver = await startHookReceiver(t)
    const env = receiver.env('BEFORE_ORGANIZATION_JOIN')
    const { app, client, organization } = await scimServer(t, { env })
    const email = 'ann@corp.test'
    const ann = { schemas: [userSchema], userName: email, emails: [{ value: email }] }
    receiver.answer({ error: { http_code: 403, message: 'The contract has no seat left' } })

    const rejected = await client.send('POST', '/Users', ann)

    assert.deepEqual(scimError(rejected), [403, ''])
    assert.match(rejected.body, /The contract has no seat left/)
    const list = await client.request<{ totalResults: number }>('GET', '/Users')
    assert.equal(list.totalResults, 0)
    const { metadata: _, ...payload } = receiver.calls[0]?.event ?? assert.fail()
    assert.partialDeepStrictEqual(payload, {
      organization: { id: organization },
      user: { id: null, email },
      role: 'member',
      joined_by: 'scim',
    })
    receiver.answer({})
    const { id } = await client.create(ann)
    const { user_id: userId } = await findScimAccount(app, id)
    assert.equal(await findMemberRole(app, organization, String(userId)), 'member active scim')
  })

  test('is not called for a user whom a SCIM client links and who is a member', async (t) => {
    const receiver = await startHookReceiver(t)
    const env = receiver.env('BEFORE_ORGANIZATION_JOIN')
    const { app, client, organization } = await scimServer(t, { env })
    const email = 'ann@corp.test'
    const { id } = await adminCreatedUser(app, { email, email_confirm: true })
    await addOwner(app, organization, id)

    await client.create({ userName: email, emails: [{ value: email }] })

    assert.deepEqual(receiver.calls, [])
    assert.equal(await findMemberRole(app, organization, id), 'owner active admin')
  })
})
