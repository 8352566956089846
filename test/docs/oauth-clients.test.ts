/**
 * docs/oauth-clients: each page’s command creates the client, its addresses exist, and the requests of programs that
 * cannot be run here are sent as they send them.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { suite, test } from 'node:test'

import { run } from '../../cli/clients/index.ts'
import type { OauthClient } from '../../schemas/oauth/client.ts'
import { cloneDatabase } from '../support/database.ts'
import { basic, makePkce, oauthServer, postForm } from '../support/oauth-server.ts'
import { openBrowser, refreshIn } from '../support/page-browser.ts'
import { callCommand, commandEnvironment } from '../support/processes/command-call.ts'
import { type App, build } from '../support/server.ts'
import { password, signUpUser } from '../support/users.ts'

const folder = 'docs/oauth-clients'
const pages = readdirSync(folder)
const issuer = 'https://auth.example.com'

/** How a program sends its requests. */
interface Program {
  scope: string
  hasPkce: boolean
  /** The client secret in the header, or in the form. */
  secretIn: 'header' | 'form'
}

const programs: Record<string, Program> = {
  // golang.org/x/oauth2 tries the header first.
  'grafana.md': { scope: 'openid email profile', hasPkce: true, secretIn: 'header' },
  // goth, with golang.org/x/oauth2.
  'forgejo.md': { scope: 'openid email profile', hasPkce: false, secretIn: 'header' },
  // passport-oauth2.
  'outline.md': { scope: 'openid profile email', hasPkce: false, secretIn: 'form' },
}

suite('docs/oauth-clients', () => {
  for (const page of pages) {
    test(`${page}: its command creates a client, and its addresses exist`, async (t) => {
      const { app, create } = await open(t)
      const text = readFileSync(`${folder}/${page}`, 'utf8')
      for (const command of extractCommands(text)) await create(command)
      const metadata = (await app.inject('/.well-known/openid-configuration')).json()
      const known = [issuer, ...Object.values(metadata)].map(String)
      const named = text.match(/https:\/\/auth\.example\.com[^\s"'`)]*/g) ?? []
      for (const url of named) {
        assert.ok(known.includes(url) || url.includes('/.well-known/'), `${url} does not exist`)
      }
    })
  }

  for (const [page, program] of Object.entries(programs)) {
    test(`${page}: signs a user in by the requests of the program`, async (t) => {
      const { app, create } = await open(t)
      const text = readFileSync(`${folder}/${page}`, 'utf8')
      assert.ok(text.includes(program.scope))
      const [command = ''] = extractCommands(text)
      await signIn(app, await create(command), program)
    })
  }
})

const extractCommands = (text: string) =>
  [...text.matchAll(/^npm run clients -- (.+)$/gm)].map(([, args = '']) => args)

async function open(t: Parameters<typeof build>[0]) {
  const database = await cloneDatabase()
  const own = { ...oauthServer, AUTH_API_EXTERNAL_URL: issuer }
  const { app } = await build(t, { database, env: own })
  const env = { ...commandEnvironment, ...own, DATABASE_URL: database.url }
  return {
    app,
    async create(args: string): Promise<OauthClient> {
      const { code, stdout, stderr } = await callCommand(run, args.split(' '), env)
      assert.equal(code, 0, stderr)
      return JSON.parse(stdout)
    },
  }
}

async function signIn(app: App, client: OauthClient, { scope, hasPkce, secretIn }: Program) {
  const { email, user } = await signUpUser(app)
  const { verifier, challenge } = makePkce()
  const redirect_uri = client.redirect_uris[0] ?? ''
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
  const query = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri,
    response_type: 'code',
    scope,
    state: 's',
    ...(hasPkce && pkce),
  })
  const browser = openBrowser(app)
  const page = await browser.open(`/oauth/authorize?${query}`)
  const consent = await browser.submit(page, { email, password, action: 'password' })
  const done = await browser.submit(consent, { action: 'approve' })
  const { searchParams } = new URL(refreshIn(done.html) ?? '')
  assert.equal(searchParams.get('state'), 's')

  const { client_id, client_secret = '' } = client
  const form = {
    grant_type: 'authorization_code',
    code: searchParams.get('code') ?? '',
    redirect_uri,
    ...(hasPkce && { code_verifier: verifier }),
    ...(secretIn === 'form' && { client_id, client_secret }),
  }
  const response = await postForm(
    app,
    '/oauth/token',
    form,
    secretIn === 'header' ? basic(client) : {},
  )
  assert.equal(response.statusCode, 200, response.body)
  const headers = { authorization: `Bearer ${response.json().access_token}` }
  const claims = (await app.inject({ url: '/oauth/userinfo', headers })).json()
  assert.deepEqual([claims.sub, claims.email], [user.id, email])
}
