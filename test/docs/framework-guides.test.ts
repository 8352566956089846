/**
 * The code of the framework guides is run as the pages have it, with the published SDK against a listening server. Of
 * the frameworks, stubs stand for what the code imports. Each session expires so soon that every use refreshes it.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { startWorld, type World } from '../clients/world.ts'
import { newAddress } from '../support/users.ts'
import { importGuide, readGuideFiles } from './framework-guides/guide.ts'
import type * as Expo from './framework-guides/stubs/expo.ts'
import type * as Next from './framework-guides/stubs/next.ts'
import type * as Nuxt from './framework-guides/stubs/nuxt.ts'
import type * as SvelteKit from './framework-guides/stubs/svelte-kit.ts'

const password = 'correct horse battery'

/** What the steps of a user are in one framework. Each returns where the browser is sent, or a message. */
interface Site {
  signUp(email: string): Promise<string>
  signIn(email: string, password: string): Promise<string>
  provider(name: string): Promise<string>
  callback(url: URL): Promise<string>
  /** What the protected page says, after everything that runs before it. */
  home(): Promise<string>
  signOut(): Promise<string>
  cookies: Map<string, string>
}

test('framework guides', async (t) => {
  const world = await startWorld(t, { AUTH_JWT_EXP: '60' })
  Object.assign(process.env, {
    NEXT_PUBLIC_AUTH_URL: world.url,
    AUTH_URL: world.url,
    NUXT_AUTH_URL: world.url,
    EXPO_PUBLIC_AUTH_URL: world.url,
  })

  await t.test('the code of the Next.js guide signs users up, in and out', async (t) => {
    await runJourney(world, await nextSite(t))
  })

  await t.test('the code of the SvelteKit guide signs users up, in and out', async (t) => {
    await runJourney(world, await svelteKitSite(t))
  })

  await t.test('the code of the Nuxt guide signs users up, in and out', async (t) => {
    await runJourney(world, await nuxtSite(t))
  })

  await t.test('the code of the Expo guide signs users up, in and out', async (t) => {
    type Guide = Record<
      'signUp' | 'confirm' | 'signIn',
      (a: string, b: string) => Promise<User>
    > & {
      signInWithProvider(provider: string): Promise<User>
      signOut(): Promise<void>
      auth: { stopAutoRefresh(): Promise<void> }
      expo: typeof Expo
    }
    type User = { email: string }
    const guide = await importGuide<Guide>(t, 'guide-expo.md', {
      entry: `export * from './lib/sign-in'
        export { auth } from './lib/auth'
        export * as expo from 'react-native'`,
      alias: {
        '@react-native-async-storage/async-storage': 'expo.ts',
        'react-native': 'expo.ts',
        'react-native-url-polyfill/auto': 'jar.ts',
        'expo-linking': 'expo.ts',
        'expo-web-browser': 'expo.ts',
      },
    })
    t.after(() => guide.auth.stopAutoRefresh())
    const email = newAddress()
    await guide.signUp(email, password)
    const { code } = await world.nextEmail(email)
    assert.equal((await guide.confirm(email, code)).email, email)
    assert.match([...guide.expo.stored.values()].join(), /refresh_token/)
    guide.expo.become('active')
    guide.expo.become('background')
    await guide.signOut()
    assert.doesNotMatch([...guide.expo.stored.values()].join(), /refresh_token/)
    await assert.rejects(guide.signIn(email, 'wrong'), /Invalid login credentials/)
    assert.equal((await guide.signIn(email, password)).email, email)
    guide.expo.visitWith(world.visit)
    assert.match((await guide.signInWithProvider('github')).email, /^visitor/)
    await guide.signOut()
  })

  await t.test('every TypeScript block of a guide belongs to a file', () => {
    const counts = ['nextjs', 'sveltekit', 'nuxt', 'expo'].map(
      (name) => Object.keys(readGuideFiles(`guide-${name}.md`)).length,
    )
    assert.deepEqual(counts, [6, 7, 9, 3])
  })
})

/** One user in one browser, from the sign-up to the sign-out. */
async function runJourney(world: World, site: Site): Promise<void> {
  const email = newAddress()
  assert.equal(await site.home(), 'to /login')
  assert.match(await site.signUp(email), /Open the link/)
  const redirect = await world.open((await world.nextEmail(email)).link)
  assert.equal(redirect.pathname, '/auth/callback')
  assert.equal(await site.callback(redirect), 'to /')
  const before = [...site.cookies.values()].join()
  assert.ok((await site.home()).includes(email))
  assert.notEqual([...site.cookies.values()].join(), before, 'the refreshed session is not stored')
  assert.ok((await site.home()).includes(email))
  await site.signOut()
  assert.equal(site.cookies.size, 0)
  assert.equal(await site.home(), 'to /login')
  assert.match(await site.signIn(email, 'wrong'), /Invalid login credentials/)
  assert.equal(await site.signIn(email, password), 'to /')
  assert.ok((await site.home()).includes(email))
  await site.signOut()
  const returned = await world.visit((await site.provider('github')).slice('to '.length))
  assert.equal(returned.pathname, '/auth/callback')
  assert.equal(await site.callback(returned), 'to /')
  assert.match(await site.home(), /visitor\d+@ex\.test/)
  await site.signOut()
  assert.match(await site.callback(new URL(`${returned.origin}/auth/callback?code=x`)), /./)
  assert.equal(await site.home(), 'to /login')
}

/** "to" and the place, or what the page says. */
async function describeOutcome(work: () => unknown): Promise<string> {
  try {
    const value = await work()
    const { location, message = JSON.stringify(value) } = Object(value)
    return location === undefined ? message : toRelativeUrl(location)
  } catch (error) {
    const { location, message } = Object(error)
    return location === undefined ? message : toRelativeUrl(location)
  }
}

function toRelativeUrl(location: string): string {
  const { pathname, searchParams } = new URL(location, 'http://localhost')
  const message = searchParams.get('message')
  if (message !== null) return message
  return location.startsWith('http') && pathname !== '/' ? `to ${location}` : `to ${pathname}`
}

async function nextSite(t: Parameters<typeof importGuide>[0]): Promise<Site> {
  type Action = (form: FormData) => Promise<void>
  type Page = (props?: object) => Promise<unknown>
  const { stub, proxy, actions, callback, home, login } = await importGuide<{
    stub: typeof Next
    proxy: { proxy(request: object): Promise<unknown>; config: { matcher: string[] } }
    actions: Record<'signUp' | 'signIn' | 'signInWithProvider' | 'signOut', Action>
    callback: { GET(request: object): Promise<unknown> }
    home: Page
    login: Page
  }>(t, 'guide-nextjs.md', {
    entry: `export * as proxy from './proxy'
      export * as actions from './app/login/actions'
      export * as callback from './app/auth/callback/route'
      export { default as home } from './app/page'
      export { default as login } from './app/login/page'
      export * as stub from 'next/headers'`,
    alias: {
      'next/headers': 'next.ts',
      'next/navigation': 'next.ts',
      'next/server': 'next.ts',
      'react/jsx-runtime': 'next.ts',
    },
  })
  const [matcher = ''] = proxy.config.matcher
  assert.ok(new RegExp(`^${matcher}$`).test('/login'))
  assert.ok(!new RegExp(`^${matcher}$`).test('/_next/static/x.js'))
  const searchParams = Promise.resolve({ message: 'Hello' })
  assert.match(await stub.render(() => login({ searchParams })), /Hello/)
  const act = (action: Action, fields: Record<string, string> = {}) => {
    const form = new FormData()
    for (const [name, value] of Object.entries(fields)) form.set(name, value)
    return describeOutcome(() => action(form))
  }
  return {
    signUp: (email) => act(actions.signUp, { email, password }),
    signIn: (email, password) => act(actions.signIn, { email, password }),
    provider: (provider) => act(actions.signInWithProvider, { provider }),
    callback: (url) => describeOutcome(() => callback.GET(stub.createNextRequest(url.href))),
    async home() {
      await proxy.proxy(stub.createNextRequest('http://localhost:3000/'))
      return describeOutcome(() => stub.render(home))
    },
    signOut: () => act(actions.signOut),
    cookies: stub.jar,
  }
}

async function svelteKitSite(t: Parameters<typeof importGuide>[0]): Promise<Site> {
  type Handler = (event: object) => unknown
  const { stub, hooks, login, callback, home } = await importGuide<{
    stub: typeof SvelteKit
    hooks: { handle(input: { event: object; resolve: Handler }): unknown }
    login: { actions: Record<'signUp' | 'signIn' | 'provider' | 'signOut', Handler> }
    callback: { GET: Handler }
    home: { load: Handler }
  }>(t, 'guide-sveltekit.md', {
    entry: `export * as hooks from './src/hooks.server'
      export * as login from './src/routes/login/+page.server'
      export * as callback from './src/routes/auth/callback/+server'
      export * as home from './src/routes/+page.server'
      export * as stub from '@sveltejs/kit'`,
    alias: { '@sveltejs/kit': 'svelte-kit.ts' },
  })
  const origin = 'http://localhost:5173'
  const request = (handler: Handler, url = `${origin}/login`, form = {}) =>
    describeOutcome(() =>
      hooks.handle({ event: stub.createRequestEvent(url, form), resolve: handler }),
    )
  const { actions } = login
  return {
    signUp: (email) => request(actions.signUp, undefined, { email, password }),
    signIn: (email, password) => request(actions.signIn, undefined, { email, password }),
    provider: (provider) => request(actions.provider, undefined, { provider }),
    callback: (url) => request(callback.GET, url.href),
    home: () => request(home.load, `${origin}/`),
    signOut: () => request(actions.signOut),
    cookies: stub.jar,
  }
}

async function nuxtSite(t: Parameters<typeof importGuide>[0]): Promise<Site> {
  type Handler = (event: object) => unknown
  const { stub, config, ...handlers } = await importGuide<
    { stub: typeof Nuxt; config: { runtimeConfig: object } } & Record<
      'signUp' | 'signIn' | 'signOut' | 'me' | 'provider' | 'callback',
      Handler
    >
  >(t, 'guide-nuxt.md', {
    entry: `export * as stub from 'h3'
      export { default as config } from './nuxt.config'
      export { default as signUp } from './server/api/sign-up.post'
      export { default as signIn } from './server/api/sign-in.post'
      export { default as signOut } from './server/api/sign-out.post'
      export { default as me } from './server/api/me.get'
      export { default as provider } from './server/routes/auth/provider.get'
      export { default as callback } from './server/routes/auth/callback.get'`,
    alias: { h3: 'nuxt.ts' },
  })
  assert.deepEqual(config.runtimeConfig, { authUrl: 'http://127.0.0.1:8081' })
  const origin = 'http://localhost:3000'
  const request = (handler: Handler, url = `${origin}/api`, body = {}) =>
    describeOutcome(() => handler({ url, body }))
  return {
    signUp: (email) => request(handlers.signUp, undefined, { email, password }),
    async signIn(email, password) {
      const message = await request(handlers.signIn, undefined, { email, password })
      return message === 'Signed in.' ? 'to /' : message
    },
    provider: (name) => request(handlers.provider, `${origin}/auth/provider?name=${name}`),
    callback: (url) => request(handlers.callback, url.href),
    async home() {
      const me = await request(handlers.me)
      return me === '{"email":null}' ? 'to /login' : me
    },
    signOut: () => request(handlers.signOut),
    cookies: stub.jar,
  }
}
