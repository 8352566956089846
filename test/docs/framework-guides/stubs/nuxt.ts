/** In place of h3, and of what Nuxt puts into the global scope. */
import { allInJar, jar, setInJar } from './jar.ts'

export { jar }

interface Event {
  url: string
  body: unknown
}

Object.assign(globalThis, {
  defineNuxtConfig: (config: unknown) => config,
  useRuntimeConfig: () => ({ authUrl: process.env.NUXT_AUTH_URL }),
})

export const defineEventHandler = <Handler>(handler: Handler) => handler
export const readBody = async ({ body }: Event) => body
export const getRequestURL = ({ url }: Event) => new URL(url)
export const getQuery = ({ url }: Event) => Object.fromEntries(new URL(url).searchParams)
export const parseCookies = () =>
  Object.fromEntries(allInJar().map(({ name, value }) => [name, value]))
export const setCookie = (_event: Event, ...cookie: Parameters<typeof setInJar>) =>
  setInJar(...cookie)
export const sendRedirect = (_event: Event, location: string) => ({ location })
export const createError = ({ message }: { message: string }) => new Error(message)
