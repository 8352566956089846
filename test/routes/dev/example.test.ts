/** The example is served from the repository with the SDK from npm, and no other file of either folder. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { endingOfSuite } from '../../support/processes/ending.ts'
import { type App, build } from '../../support/server.ts'

suite('/dev/example', () => {
  let app: App
  const ending = endingOfSuite()
  before(async () => {
    app = (await build(ending, { dev: true })).app
  })

  const hosts: [host: string, leadsTo: string][] = [
    ['127.0.0.1:8081', 'http://localhost:8081/dev/example/'],
    ['localhost:8081', '/dev/example/'],
    ['127.0.0.1.localhost:8081', '/dev/example/'],
    ['192.168.1.20:8081', '/dev/example/'],
  ]
  for (const [host, leadsTo] of hosts) {
    test(`redirects ${host} to ${leadsTo}`, async () => {
      const { headers } = await app.inject({ url: '/dev/example', headers: { host } })
      assert.equal(headers.location, leadsTo)
    })
  }

  test('loads files of this server only', async () => {
    const page = await app.inject('/dev/example/')
    const files = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = '']) => file)
    assert.ok(files.length >= 5)
    for (const file of files.filter((each) => !each.startsWith('data:'))) {
      assert.doesNotMatch(file, /^(https?:)?\/\//)
      const { pathname } = new URL(file, 'http://localhost/dev/example/')
      assert.ok((await app.inject(pathname)).statusCode < 400, pathname)
    }
    assert.match((await app.inject('/dev/example/supabase.js')).body, /createClient/)
  })

  for (const name of ['README.md', '..%2f..%2fpackage.json', '../../../package.json', 'toString']) {
    test(`returns 404 for ${name}`, async () => {
      assert.equal((await app.inject(`/dev/example/${name}`)).statusCode, 404)
    })
  }

  test('returns 404 outside development', async (t) => {
    const { app } = await build(t)
    for (const url of ['/dev/example', '/dev/example/', '/dev/signed-in', '/rest/v1/notes']) {
      assert.equal((await app.inject(url)).json().error_code, 'not_found', url)
    }
  })
})
