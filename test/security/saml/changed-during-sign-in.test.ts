/** Single sign-on whose provider or connection an admin changes while the operator's hook is called. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { adminOk, createOwner, organizationsOn } from '../../support/organizations/organizations.ts'
import { signedResponse } from '../../support/saml/idp.ts'
import { addIdp, ask, post, samlOn } from '../../support/saml/server.ts'
import { findMemberRole } from '../../support/scim/clients.ts'
import { type App, build } from '../../support/server.ts'
import { startHookReceiver } from '../../support/webhooks/hook-receiver.ts'

interface Changed {
  app: App
  providerId: string
  /** Of the connection. */
  url: string
}

suite('single sign-on', () => {
  /** Signs in a new user; `change` is made during the call of the hook. */
  async function signInDuring(t: TestContext, change: (context: Changed) => Promise<unknown>) {
    const receiver = await startHookReceiver(t)
    const env = { ...organizationsOn, ...samlOn, ...receiver.env('BEFORE_ORGANIZATION_JOIN') }
    const { app } = await build(t, { env })
    const { organization } = await createOwner(app)
    const { idp, id: providerId } = await addIdp(app)
    const path = `/admin/organizations/${organization.id}/connections`
    const body = { name: 'Corp', sso_provider_id: providerId, default_role: 'admin' }
    const { id } = await adminOk<{ id: string }>(app, `POST ${path}`, body)
    receiver.reply({
      act: (response) => {
        change({ app, providerId, url: `${path}/${id}` }).then(
          () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
          (error) => response.destroy(error),
        )
      },
    })
    const landed = await post(app, signedResponse({ idp }))
    assert.equal(receiver.calls.length, 1)
    const user = await app.db
      .selectFrom('identities')
      .select('user_id')
      .where('provider', '=', `sso:${providerId}`)
      .executeTakeFirst()
    const role = user && (await findMemberRole(app, organization.id, user.user_id))
    return { code: landed.query.error_code, role, isKnown: user !== undefined }
  }

  test('is rejected when the provider was disabled', async (t) => {
    const disable = ({ app, providerId }: Changed) =>
      ask(app, 'PUT', `/${providerId}`, { disabled: true })
    const expected = { code: 'sso_provider_disabled', role: undefined, isKnown: false }
    assert.deepEqual(await signInDuring(t, disable), expected)
  })

  test('is rejected when the provider was deleted', async (t) => {
    const remove = ({ app, providerId }: Changed) => ask(app, 'DELETE', `/${providerId}`)
    const expected = { code: 'saml_idp_not_found', role: undefined, isKnown: false }
    assert.deepEqual(await signInDuring(t, remove), expected)
  })

  test('adds no member when the connection was disabled or deleted', async (t) => {
    const disable = ({ app, url }: Changed) => adminOk(app, `PUT ${url}`, { enabled: false })
    const remove = ({ app, url }: Changed) => adminOk(app, `DELETE ${url}`)
    for (const change of [disable, remove]) {
      const expected = { code: undefined, role: undefined, isKnown: true }
      assert.deepEqual(await signInDuring(t, change), expected)
    }
  })

  test('gives the role that the connection has at the end', async (t) => {
    const change = ({ app, url }: Changed) => adminOk(app, `PUT ${url}`, { default_role: 'member' })
    const expected = { code: undefined, role: 'member active sso', isKnown: true }
    assert.deepEqual(await signInDuring(t, change), expected)
  })
})
