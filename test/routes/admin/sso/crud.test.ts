/** /admin/sso/providers: create, read, update, delete and validation. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { refreshStaleMetadata } from '../../../../modules/saml/index.ts'
import { sharedServers } from '../../../support/processes/shared-servers.ts'
import { statusAndCode } from '../../../support/requests.ts'
import { buildIdpMetadata, createIdp, signedResponse } from '../../../support/saml/idp.ts'
import { metadataServer } from '../../../support/saml/metadata-server.ts'
import { addIdp, ask, begin, path, post, samlOn } from '../../../support/saml/server.ts'
import { type App, build } from '../../../support/server.ts'

const unique = () => crypto.randomUUID()
const persistent = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent'
const eventsOn = { AUTH_EVENTS_ENABLED: 'true' }

suite('/admin/sso/providers', () => {
  const server = sharedServers()

  test('creates, lists, returns, updates and deletes a provider, also while SAML is off', async () => {
    const { app } = await server(eventsOn)
    const idp = createIdp()
    const [resource_id, domain] = [`r-${unique()}`, `${unique()}.example`]
    const body = { type: 'saml', metadata_xml: idp.metadata, domains: [domain], resource_id }
    const created = await ask(app, 'POST', '', body)
    assert.equal(created.statusCode, 201, created.body)
    const { id, created_at, updated_at, ...fields } = created.json()
    assert.ok(created_at === updated_at)
    assert.deepEqual(fields, {
      resource_id,
      disabled: null,
      saml: { entity_id: idp.entityId, metadata_xml: idp.metadata, idp_initiated: 'default' },
      domains: [{ domain }],
    })
    for (const name of [id, `resource_${resource_id}`]) {
      assert.deepEqual((await ask(app, 'GET', `/${name}`)).json(), created.json())
    }
    for (const query of [
      `resource_id=${resource_id}`,
      `resource_id_prefix=${resource_id.slice(0, 9)}`,
    ]) {
      const { items } = (await ask(app, 'GET', `?${query}`)).json()
      assert.deepEqual(
        items.map((item: { saml: object }) => item.saml),
        [{ entity_id: idp.entityId, idp_initiated: 'default' }],
      )
    }
    const changed = (
      await ask(app, 'PUT', `/${id}`, { disabled: true, name_id_format: persistent })
    ).json()
    assert.deepEqual(
      [changed.disabled, changed.saml.name_id_format, changed.domains],
      [true, persistent, [{ domain }]],
    )
    const cleared = (await ask(app, 'PUT', `/${id}`, { domains: [], resource_id: '' })).json()
    assert.deepEqual(
      [cleared.domains, cleared.resource_id, cleared.saml.name_id_format],
      [[], undefined, persistent],
    )
    const removed = await ask(app, 'DELETE', `/${id}`)
    assert.deepEqual([removed.statusCode, removed.json().id], [200, id])
    assert.equal((await ask(app, 'GET', `/${id}`)).statusCode, 404)
    const entries = await app.db.selectFrom('audit_log_entries').select('payload').execute()
    const ours = entries.filter(({ payload }) => Object(payload.traits).provider === `sso:${id}`)
    assert.deepEqual(ours.map(({ payload }) => payload.action).toSorted(), [
      'sso_provider_created',
      'sso_provider_deleted',
      'sso_provider_updated',
      'sso_provider_updated',
    ])
  })

  test('fetches metadata from a URL and again once it is stale', async (t) => {
    const { app } = await build(t, { dev: true, env: samlOn })
    const idp = createIdp()
    const served = { xml: idp.metadata, count: 0 }
    const metadata_url = await metadataServer(t, served)
    const { id } = (await ask(app, 'POST', '', { type: 'saml', metadata_url })).json()
    assert.equal(served.count, 1)
    assert.equal((await ask(app, 'GET', `/${id}`)).json().saml.metadata_url, metadata_url)
    const rolled = createIdp(idp.entityId)
    served.xml = rolled.metadata
    const early = await post(app, signedResponse({ idp: rolled }))
    assert.deepEqual([early.status, served.count], [303, 1])
    await makeOld(app)
    const redirect = await post(app, signedResponse({ idp: rolled }))
    assert.deepEqual([redirect.status, served.count], [302, 2])
  })

  test('keeps the stored metadata when the fetch fails', async (t) => {
    const { app } = await build(t, { dev: true, env: samlOn })
    const idp = createIdp()
    const served = { xml: idp.metadata, count: 0 }
    const metadata_url = await metadataServer(t, served)
    await ask(app, 'POST', '', { type: 'saml', metadata_url })
    await makeOld(app)
    served.xml = 'no XML'
    assert.equal((await post(app, signedResponse({ idp }))).status, 302)
    assert.equal(served.count, 2)
    served.xml = createIdp().metadata
    await refreshStaleMetadata(app, new Date(Date.now() + 61_000))
    assert.equal(served.count, 3)
    assert.equal((await post(app, signedResponse({ idp }))).status, 302)
  })

  test('does not fetch metadata again within a minute after a failure', async (t) => {
    const { app } = await build(t, { dev: true, env: samlOn })
    const idp = createIdp()
    const served = { xml: idp.metadata, count: 0 }
    const metadata_url = await metadataServer(t, served)
    await ask(app, 'POST', '', { type: 'saml', metadata_url })
    served.xml = 'no XML'
    await makeOld(app)
    for (const _ of [1, 2, 3]) await post(app, signedResponse({ idp }))
    assert.equal(served.count, 2)
  })

  test('does not fetch metadata again within a minute when the new document is stale, too', async (t) => {
    const { app } = await build(t, { dev: true, env: samlOn })
    const idp = createIdp()
    const uncached = '<EntityDescriptor cacheDuration="PT0S"'
    const served = { xml: idp.metadata.replace('<EntityDescriptor', uncached), count: 0 }
    assert.ok(served.xml.includes(uncached))
    const metadata_url = await metadataServer(t, served)
    await ask(app, 'POST', '', { type: 'saml', metadata_url })
    const posts = [1, 2, 3].map(() => post(app, signedResponse({ idp })))
    assert.deepEqual(
      (await Promise.all(posts)).map(({ status }) => status),
      [302, 302, 302],
    )
    assert.equal((await post(app, signedResponse({ idp }))).status, 302)
    assert.equal(served.count, 2)
  })

  test('does not overwrite metadata that an admin sent during a fetch of the previous URL', async (t) => {
    const { app } = await build(t, { dev: true, env: samlOn })
    const idp = createIdp()
    const rolled = createIdp(idp.entityId)
    const served = { xml: idp.metadata, count: 0, before: async () => {} }
    const metadata_url = await metadataServer(t, served)
    const { id } = (await ask(app, 'POST', '', { type: 'saml', metadata_url })).json()
    await makeOld(app)
    served.before = async () => {
      const change = await ask(app, 'PUT', `/${id}`, { metadata_xml: rolled.metadata })
      assert.equal(change.statusCode, 200, change.body)
    }
    await refreshStaleMetadata(app, new Date())
    assert.equal(served.count, 2)
    assert.equal((await ask(app, 'GET', `/${id}`)).json().saml.metadata_xml, rolled.metadata)
  })

  test('refreshes stale metadata by a job', async (t) => {
    const { app } = await build(t, { dev: true, env: samlOn })
    const served = { xml: createIdp().metadata, count: 0 }
    await ask(app, 'POST', '', { type: 'saml', metadata_url: await metadataServer(t, served) })
    await refreshStaleMetadata(app, new Date())
    assert.equal(served.count, 1)
    await makeOld(app)
    await refreshStaleMetadata(app, new Date())
    assert.equal(served.count, 2)
    assert.ok(app.jobQueue.tasks().includes('refresh_saml_metadata'))
  })

  test('rejects metadata with the artifact binding only and names the binding', async () => {
    const { app } = await server()
    const metadata_xml = createIdp().metadata.replace('HTTP-Redirect', 'HTTP-Artifact')
    const response = await ask(app, 'POST', '', { type: 'saml', metadata_xml })
    assert.deepEqual(statusAndCode(response), [400, 'validation_failed'])
    assert.match(response.json().msg, /HTTP-Redirect or HTTP-POST; HTTP-Artifact is not supported/)
  })

  const invalid: Record<string, object> = {
    'another type': { type: 'oidc' },
    'no type': { type: '' },
    'no metadata': { metadata_xml: '' },
    'both forms of metadata': { metadata_url: 'https://idp.example/metadata' },
    'a metadata URL without TLS': { metadata_xml: '', metadata_url: 'http://idp.example/metadata' },
    'an unknown NameID format': { name_id_format: 'urn:x' },
    'metadata that is not XML': { metadata_xml: 'no XML' },
    'metadata with a DTD': { metadata_xml: `<!DOCTYPE x>${createIdp().metadata}` },
    'metadata without an entity id': { metadata_xml: createIdp('').metadata },
    'metadata of a service provider': {
      metadata_xml: createIdp().metadata.replaceAll('IDPSSODescriptor', 'SPSSODescriptor'),
    },
    'metadata with sign-on by SOAP only': {
      metadata_xml: createIdp().metadata.replace('HTTP-Redirect', 'SOAP'),
    },
    'metadata without a certificate': { metadata_xml: buildIdpMetadata('https://idp.example', []) },
    'an empty domain': { domains: [' '] },
    'an attribute mapping of an array to a string': {
      attribute_mapping: { keys: { name: { name: 'cn', array: true } } },
    },
  }
  for (const [title, change] of Object.entries(invalid)) {
    test(`rejects ${title} with 400 validation_failed`, async () => {
      const { app } = await server()
      const body = { type: 'saml', metadata_xml: createIdp().metadata, ...change }
      assert.deepEqual(statusAndCode(await ask(app, 'POST', '', body)), [400, 'validation_failed'])
    })
  }

  test('returns 400 saml_metadata_fetch_failed for an unreachable URL', async (t) => {
    const { app } = await build(t, { dev: true })
    const missing = `${await metadataServer(t, { xml: '', count: 0 })}/missing`
    for (const metadata_url of [missing, 'https://127.0.0.1:9/metadata']) {
      const response = await ask(app, 'POST', '', { type: 'saml', metadata_url })
      assert.deepEqual(statusAndCode(response), [400, 'saml_metadata_fetch_failed'])
    }
  })

  test('returns 400 saml_metadata_fetch_failed for a private address', async () => {
    const { app } = await server()
    const metadata_url = 'https://169.254.169.254/latest/meta-data'
    const response = await ask(app, 'POST', '', { type: 'saml', metadata_url })
    assert.deepEqual(statusAndCode(response), [400, 'saml_metadata_fetch_failed'])
  })

  test('rejects entity ids, domains and resource ids of other providers', async () => {
    const { app } = await server()
    const [domain, resource_id] = [`${unique()}.example`, `r-${unique()}`]
    const { idp } = await addIdp(app, { domains: [domain], resource_id })
    const create = (more: object, known = createIdp()) =>
      ask(app, 'POST', '', { type: 'saml', metadata_xml: known.metadata, ...more })
    assert.deepEqual(statusAndCode(await create({}, idp)), [422, 'saml_idp_already_exists'])
    const upper = { domains: [domain.toUpperCase()] }
    assert.deepEqual(statusAndCode(await create(upper)), [400, 'sso_domain_already_exists'])
    const twice = { domains: ['a.example', 'A.example'] }
    assert.deepEqual(statusAndCode(await create(twice)), [400, 'sso_domain_already_exists'])
    const conflict = { resource_id: resource_id.toUpperCase() }
    assert.deepEqual(statusAndCode(await create(conflict)), [422, 'conflict'])
    const { id } = await addIdp(app)
    const other = await ask(app, 'PUT', `/${id}`, { metadata_xml: createIdp().metadata })
    assert.deepEqual(statusAndCode(other), [400, 'saml_entity_id_mismatch'])
    assert.deepEqual(statusAndCode(await ask(app, 'PUT', `/${id}`, upper)), [
      400,
      'sso_domain_already_exists',
    ])
  })

  for (const method of ['GET', 'PUT', 'DELETE'] as const) {
    test(`${method} returns 404 sso_provider_not_found for an unknown provider`, async () => {
      const { app } = await server()
      for (const name of [unique(), 'x', 'resource_x', 'resource_']) {
        const response = await ask(app, method, `/${name}`, method === 'PUT' ? {} : undefined)
        assert.deepEqual(statusAndCode(response), [404, 'sso_provider_not_found'], name)
      }
    })
  }

  test('requires an admin token before other checks', async () => {
    const { app } = await server()
    assert.equal((await app.inject(path)).statusCode, 401)
  })

  test('rejects sign-ins through a disabled provider', async () => {
    const { app } = await server(samlOn)
    const { id } = await addIdp(app)
    await begin(app, { provider_id: id })
    await ask(app, 'PUT', `/${id}`, { disabled: true })
    const response = await app.inject({ method: 'POST', url: '/sso', payload: { provider_id: id } })
    assert.deepEqual(statusAndCode(response), [404, 'sso_provider_disabled'])
  })
})

/** As if each document had been fetched two days ago. */
async function makeOld({ db }: App): Promise<void> {
  const updated_at = new Date(Date.now() - 2 * 86_400_000)
  await db.updateTable('saml_providers').set({ updated_at }).execute()
}
