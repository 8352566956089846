/** A site on loopback that loads the published client SDK as it is: `client` is there once the title is "ready". */
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'

import type { Ending } from '../support/processes/ending.ts'
import { serve } from '../support/processes/listening.ts'

const modules = new URL('../../node_modules/', import.meta.url)
const sdk = '/@supabase/auth-js/dist/module'

const page = (auth: string) => `<!doctype html><title>Site</title>
<script type="importmap">{ "imports": { "tslib": "/tslib/tslib.es6.mjs" } }</script>
<script type="module">
import { AuthClient } from '${sdk}/index.js'
window.client = new AuthClient({ url: '${auth}', experimental: { passkey: true } })
document.title = 'ready'
</script>`

/** On localhost, where a page may use security keys without TLS. */
export async function startSdkSite(t: Ending) {
  const state = { auth: '' }
  const server = createServer(async (request, response) => {
    const path = request.url ?? '/'
    if (path === '/') {
      return response.writeHead(200, { 'content-type': 'text/html' }).end(page(state.auth))
    }
    try {
      // The SDK's own imports name no extension.
      const file = /\.m?js$/.test(path) ? path : `${path}.js`
      const source = await readFile(new URL(`.${file}`, modules))
      response.writeHead(200, { 'content-type': 'text/javascript' }).end(source)
    } catch {
      response.writeHead(404).end()
    }
  })
  const port = await serve(t, server)
  return { url: `http://localhost:${port}`, state }
}
