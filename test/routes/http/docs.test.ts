import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { openapiText } from '../../../cli/openapi.ts'
import { everyFeature } from '../../../config/every-feature.ts'
import { build } from '../../support/server.ts'

/** As the document is generated. */
const documented = everyFeature()

suite('API reference', () => {
  test('GET /openapi.json returns the document, also under the prefix', async (t) => {
    const { app } = await build(t, { env: documented })
    for (const url of ['/openapi.json', '/auth/v1/openapi.json']) {
      const response = await app.inject({ url })
      assert.equal(response.statusCode, 200)
      assert.deepEqual(response.json(), JSON.parse(await openapiText()))
    }
  })

  test('GET /docs renders it in development from files of this server', async (t) => {
    const { app } = await build(t, { dev: true, env: documented })

    const page = await app.inject({ url: '/docs' })

    assert.equal(page.statusCode, 200)
    assert.match(String(page.headers['content-type']), /^text\/html/)
    assert.match(String(page.headers['content-security-policy']), /default-src 'self'/)
    const files = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file ?? '')
    assert.ok(files.length >= 3)
    for (const file of files) {
      assert.doesNotMatch(file, /^(https?:)?\/\//)
      const { pathname } = new URL(file, 'http://localhost/docs')
      assert.equal((await app.inject({ url: pathname })).statusCode, 200, pathname)
    }
    const shown = await app.inject({ url: '/docs/json' })
    assert.deepEqual(
      Object.keys(shown.json().paths).toSorted(),
      Object.keys(JSON.parse(await openapiText()).paths).toSorted(),
    )
  })

  test('GET /docs returns 404 outside development', async (t) => {
    const { app } = await build(t)
    for (const url of ['/docs', '/docs/', '/docs/json', '/docs/static/index.html']) {
      assert.equal((await app.inject({ url })).statusCode, 404, url)
    }
  })
})
