/**
 * What decides who signs in is not changed in silence: a stolen session of an owner would put a template, a redirect
 * target, a provider or a signing key of its own there, which stay after its end.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { exportJWK, generateKeyPair } from 'jose'

import { asAdmin } from '../../support/admin.ts'
import { createAdmin, removeAdmins, withConsole } from '../../support/admins.ts'
import { oauth2Input } from '../../support/custom-providers/requests.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { createIdp } from '../../support/saml/idp.ts'
import { samlOn } from '../../support/saml/server.ts'

const env = {
  ...withConsole,
  ...samlOn,
  AUTH_MAILER_NOTIFICATIONS_SERVER_CHANGE_ENABLED: 'true',
}

type Owner = Awaited<ReturnType<typeof createAdmin>>

const setting = (name: string, value: string) => async (owner: Owner) => {
  const changed = await owner.request('PUT', '/admin/settings', { values: { [name]: value } })
  assert.equal(changed.statusCode, 200, changed.body)
}

/** With what the message names. */
const changes: Record<string, { change: (owner: Owner) => Promise<unknown>; says: RegExp }> = {
  'a redirect target': {
    change: setting('AUTH_URI_ALLOW_LIST', 'https://new.example/**'),
    says: /AUTH_URI_ALLOW_LIST/,
  },
  'a template': {
    change: setting('AUTH_MAILER_TEMPLATES_RECOVERY', '<a href="{{ .ConfirmationURL }}">link</a>'),
    says: /AUTH_MAILER_TEMPLATES_RECOVERY/,
  },
  'a provider of the server': {
    change: setting('AUTH_EXTERNAL_GITHUB_CLIENT_ID', 'theirs'),
    says: /AUTH_EXTERNAL_GITHUB_CLIENT_ID/,
  },
  'a signing key': {
    async change(owner) {
      const { privateKey } = await generateKeyPair('ES256', { extractable: true })
      const jwk = { ...(await exportJWK(privateKey)), kid: 'a key of their own' }
      return owner.request('POST', '/admin/keys', { action: 'import', jwk })
    },
    says: /signing_key_imported: a key of their own/,
  },
  'a SAML provider': {
    async change(owner) {
      const body = { type: 'saml', metadata_xml: createIdp().metadata }
      const made = await owner.request('POST', '/admin/sso/providers', body)
      const path = `/admin/sso/providers/${made.json().id}`
      return owner.request('PUT', path, { domains: ['corp.example'] })
    },
    says: /sso_provider_updated: /,
  },
  'a custom provider': {
    async change(owner) {
      const made = await owner.request('POST', '/admin/custom-providers', provider)
      assert.equal(made.statusCode, 201, made.body)
      const path = `/admin/custom-providers/${provider.identifier}`
      return owner.request('PUT', path, { name: 'Other' })
    },
    says: /custom_provider_updated: custom:plain/,
  },
}

/** Of the public network: nothing is sent to it when the provider is saved. */
const provider = oauth2Input('https://1.1.1.1')

suite('a change of the server by an owner', () => {
  const serverFor = sharedServers()

  for (const [what, { change, says }] of Object.entries(changes)) {
    test(`is told to every owner: ${what}`, async () => {
      const server = await serverFor(env)
      const { app } = server
      await removeAdmins(app)
      const [owner, other] = [await createAdmin(app, 'owner'), await createAdmin(app, 'owner')]
      await change(owner)
      for (const { email } of [owner, other]) {
        const { mail } = await server.mail.waitFor(
          ({ to, mail }) => to === email && says.test(mail.text ?? ''),
        )
        assert.equal(mail.subject, 'The sign-in settings were changed')
        assert.ok(mail.text?.includes(owner.email))
      }
    })
  }

  test('is not told for limits, and once an hour for the same value', async () => {
    const server = await serverFor(env)
    const { app } = server
    await removeAdmins(app)
    const { email } = await createAdmin(app, 'owner')
    for (const values of [
      { AUTH_RATE_LIMIT_VERIFY: '50' },
      { AUTH_MAILER_SUBJECTS_INVITE: 'first' },
      { AUTH_MAILER_SUBJECTS_INVITE: 'second' },
      { AUTH_MAILER_SUBJECTS_INVITE: 'first' },
      { AUTH_MAILER_SUBJECTS_RECOVERY: 'last' },
    ]) {
      const changed = await asAdmin(app, 'PUT', '/admin/settings', { values })
      assert.equal(changed.statusCode, 200, changed.body)
    }
    await server.mail.waitFor(
      ({ to, mail }) => to === email && /SUBJECTS_RECOVERY/.test(mail.text ?? ''),
    )
    const told = server.mail.messages.filter(({ to }) => to === email)
    assert.equal(told.length, 3)
  })
})
