/** pysaml2 as an identity provider: its signed messages, and forged ones. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { before, suite, test } from 'node:test'

import { createFolder, missing } from '../services/programs.ts'
import { endingOfSuite } from '../support/processes/ending.ts'
import { refresh } from '../support/requests.ts'
import { createIdp } from '../support/saml/idp.ts'
import { formIn, postMessage, sloUrl, visit } from '../support/saml/logout.ts'
import { ask, begin, postForm, samlOn } from '../support/saml/server.ts'
import { type App, build } from '../support/server.ts'
import { installPysaml2, writeKeys } from './pysaml2.ts'

const entityId = 'https://pysaml2.example/idp'

interface Made {
  responses: Record<string, string>
  logouts: Record<'redirect' | 'post' | 'redirect signed with another key', string>
}

const accepted = ['signed assertion', 'signed response', 'both signed', 'signed with SHA-512']

const rejected: Record<string, RegExp> = {
  unsigned: /neither it nor its assertion is signed/,
  'SHA-1': /not allowed/,
  'another audience': /another audience/,
  'another destination': /Destination|Recipient/,
  'another request': /not a response/,
  'another key': /signature is not valid/,
  'changed after it was signed': /signature is not valid/,
  'two assertions': /more than one assertion|same id/,
  expired: /expired/,
  'not yet valid': /not valid yet/,
  'expired confirmation': /expired/,
  'another recipient': /Recipient/,
  'another issuer': /issuer/,
  'no audience': /another audience/,
  'Triple DES': /encrypted assertion cannot be used/,
}

suite('pysaml2', { skip: missing('xmlsec1', 'python3') }, () => {
  const ending = endingOfSuite()
  let app: App
  let made: Made
  let relayState = ''

  before(async () => {
    const env = { ...samlOn, AUTH_SAML_ALLOW_ENCRYPTED_ASSERTIONS: 'true' }
    app = (await build(ending, { env })).app
    const folder = createFolder(ending)
    for (const name of ['idp', 'attacker']) await writeKeys(folder, name, createIdp())
    const run = programIn(folder)
    const { metadata: metadata_xml } = run('') as { metadata: string }
    const added = await ask(app, 'POST', '', { type: 'saml', metadata_xml })
    assert.equal(added.statusCode, 201, added.body)
    const begun = await begin(app, { provider_id: added.json().id })
    relayState = begun.relayState
    const metadata = (await app.inject('/sso/saml/metadata')).body
    const given = {
      metadata,
      entity_id: 'http://auth.example/sso/saml/metadata',
      acs: 'http://auth.example/sso/saml/acs',
      slo: sloUrl,
      certificate: /use="encryption".*?<X509Certificate>([^<]+)/.exec(metadata)?.[1],
      request_id: begun.requestId,
    }
    made = run(JSON.stringify(given)) as Made
  })

  const respond = (title: string, relay = '') => {
    const { [title]: SAMLResponse = '' } = made.responses
    return postForm(app, { SAMLResponse, RelayState: relay })
  }

  for (const title of accepted) {
    test(`signs a user in: ${title}`, async () => {
      const redirect = await respond(title)
      assert.equal(redirect.status, 302, redirect.location.href)
      assert.ok(redirect.fragment.access_token)
    })
  }

  test('signs a user in: response to the request', async () => {
    const redirect = await respond('answer to the request', relayState)
    assert.equal(redirect.status, 302, redirect.location.href)
  })

  test('revokes the session by HTTP-Redirect and HTTP-POST, and rejects another key', async () => {
    for (const by of ['redirect', 'post'] as const) {
      const { refresh_token = '' } = (await respond(`for logout by ${by}`)).fragment
      const other = await visit(app, made.logouts['redirect signed with another key'])
      assert.match(String(other.headers.location), /signature\+is\+not\+valid/)
      const request = made.logouts[by]
      const response =
        by === 'redirect'
          ? await visit(app, request)
          : await postMessage(app, { SAMLRequest: request, RelayState: 'state' })
      if (by === 'redirect') {
        assert.match(String(response.headers.location), /\/slo\/redirect\?SAMLResponse=/)
      } else assert.equal(formIn(response.body).action, `${entityId}/slo/post`)
      assert.equal((await refresh(app, refresh_token)).statusCode, 400)
    }
  })

  for (const [title, reason] of Object.entries(rejected)) {
    test(`is rejected: ${title}`, async () => {
      const redirect = await respond(title)
      assert.equal(redirect.status, 303, title)
      assert.match(`${redirect.query.error_code} ${redirect.query.error_description}`, reason)
    })
  }
})

/** How its program is run. */
function programIn(folder: string) {
  const python = installPysaml2(folder)
  const script = join(import.meta.dirname, 'pysaml2_idp.py')
  return (input: string): unknown =>
    JSON.parse(
      execFileSync(python, ['-W', 'ignore', script, folder, entityId], { input }).toString(),
    )
}
