/** Metadata of an identity provider after its validUntil (SAML 2.0 Metadata §2.3.1). */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { checkSaml } from '../../../cli/doctor/services.ts'
import { refreshStaleMetadata } from '../../../modules/saml/index.ts'
import { createDoctorContext, runCheck } from '../../cli/doctor/doctor-context.ts'
import { cloneDatabase } from '../../support/database.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import { createIdp, signedResponse } from '../../support/saml/idp.ts'
import {
  base64,
  buildLogoutRequest,
  idpWithLogout,
  postMessage,
  signedMessage,
} from '../../support/saml/logout.ts'
import { metadataServer } from '../../support/saml/metadata-server.ts'
import { addIdp, ask, begin, post, samlOn } from '../../support/saml/server.ts'
import { type App, build } from '../../support/server.ts'

const expiry = 'validUntil="2020-01-01T00:00:00Z"'
const withExpiry = (xml: string) => xml.replace('<EntityDescriptor', `<EntityDescriptor ${expiry}`)

/** As if the validity of the stored documents had ended. */
async function expire({ db }: App): Promise<void> {
  for (const { id, metadata_xml } of await db
    .selectFrom('saml_providers')
    .select(['id', 'metadata_xml'])
    .execute()) {
    const change = { metadata_xml: withExpiry(metadata_xml) }
    await db.updateTable('saml_providers').set(change).where('id', '=', id).execute()
  }
}

suite('SAML metadata after its validUntil', () => {
  test('is not used while it cannot be fetched again', async (t) => {
    const lines: string[] = []
    const { app } = await build(t, { dev: true, env: samlOn, lines })
    const idp = createIdp()
    const served = { xml: idp.metadata, count: 0 }
    const input = { type: 'saml', metadata_url: await metadataServer(t, served) }
    const provider_id = (await ask(app, 'POST', '', input)).json().id
    const { relayState, requestId } = await begin(app, { provider_id })
    await expire(app)
    served.xml = withExpiry(idp.metadata)

    for (const [xml, relay] of [
      [signedResponse({ idp }), ''],
      [signedResponse({ idp, requestId }), relayState],
    ] as const) {
      const { status, query } = await post(app, xml, relay)
      assert.deepEqual([status, query.error_code], [303, 'saml_metadata_expired'])
    }
    const begun = await call(app, '/sso', { provider_id })
    assert.deepEqual(statusAndCode(begun), [422, 'saml_metadata_expired'])
    assert.equal(served.count, 2)

    await refreshStaleMetadata(app, new Date())
    assert.ok(lines.some((line) => line.includes('SAML metadata expired, sign-ins are rejected')))
  })

  test('is fetched again by a sign-in', async (t) => {
    const { app } = await build(t, { dev: true, env: samlOn })
    const idp = createIdp()
    const served = { xml: idp.metadata, count: 0 }
    const input = { type: 'saml', metadata_url: await metadataServer(t, served) }
    const provider_id = (await ask(app, 'POST', '', input)).json().id
    await expire(app)
    const { relayState, requestId } = await begin(app, { provider_id })
    assert.equal((await post(app, signedResponse({ idp, requestId }), relayState)).status, 302)
    assert.equal(served.count, 2)
  })

  test('is not used when it was sent by an admin, and doctor names the provider', async (t) => {
    const database = await cloneDatabase(t)
    const { app } = await build(t, { database, env: samlOn })
    const { idp, id: provider_id } = await addIdp(app)
    const examine = () =>
      runCheck(checkSaml, createDoctorContext(t, { ...samlOn, DATABASE_URL: database.url }))
    assert.deepEqual(await examine(), [])
    await expire(app)
    const { status, query } = await post(app, signedResponse({ idp }))
    assert.deepEqual([status, query.error_code], [303, 'saml_metadata_expired'])
    const begun = await call(app, '/sso', { provider_id })
    assert.deepEqual(statusAndCode(begun), [422, 'saml_metadata_expired'])
    const [line = '', ...more] = await examine()
    assert.match(line, /^fail The metadata of .* expired at 2020-01-01T00:00:00\.000Z/)
    assert.ok(line.includes(idp.entityId) && line.includes(provider_id) && more.length === 0)

    const renewed = { metadata_xml: idp.metadata }
    assert.equal((await ask(app, 'PUT', `/${provider_id}`, renewed)).statusCode, 200)
    assert.equal((await post(app, signedResponse({ idp }))).status, 302)
  })

  test('revokes no session, and is not used for a logout that starts here', async (t) => {
    const { app } = await build(t, { env: samlOn })
    const { idp } = await addIdp(app, {}, idpWithLogout('HTTP-Redirect', 'HTTP-POST'))
    const { access_token: token = '' } = (await post(app, signedResponse({ idp }))).fragment
    await expire(app)

    const xml = signedMessage(buildLogoutRequest(idp), idp, 'LogoutRequest')
    const { headers } = await postMessage(app, { SAMLRequest: base64(xml) })
    assert.match(String(headers.location), /error_code=saml_metadata_expired/)
    assert.equal((await call(app, '/user', undefined, { token })).statusCode, 200)

    const response = await call(app, '/logout/sso', {}, { token })
    assert.deepEqual([response.statusCode, response.json().url], [200, 'http://app.example'])
    const after = await call(app, '/user', undefined, { token })
    assert.deepEqual(statusAndCode(after), [403, 'session_not_found'])
  })

  const entities = (xml: string) =>
    `<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" ${expiry}>${xml}</EntitiesDescriptor>`
  for (const [what, wrap] of Object.entries({
    'of the provider': withExpiry,
    'without a time zone': (xml: string) => withExpiry(xml).replace('00Z"', '00"'),
    'of the list around it': entities,
  })) {
    test(`is rejected from an admin by the validUntil ${what}`, async (t) => {
      const { app } = await build(t, { env: samlOn })
      const body = { type: 'saml', metadata_xml: wrap(createIdp().metadata) }
      const response = await ask(app, 'POST', '', body)
      assert.deepEqual(statusAndCode(response), [400, 'validation_failed'])
      assert.match(response.json().msg, /expired/)
    })
  }

  test('is rejected from an admin when the validUntil is not a time', async (t) => {
    const { app } = await build(t, { env: samlOn })
    const xml = withExpiry(createIdp().metadata).replace('2020-01-01', '1 January')
    const response = await ask(app, 'POST', '', { type: 'saml', metadata_xml: xml })
    assert.deepEqual(statusAndCode(response), [400, 'validation_failed'])
    assert.match(response.json().msg, /validUntil is not a time/)
  })
})
