/**
 * Mails in the development inbox hold working links, and the provider `dev` lets everybody in: no page of another site
 * may read them. Neither by its own name that leads to this machine (DNS rebinding), nor because this server answers
 * browsers on any site.
 */
import { isIP } from 'node:net'

import type { FastifyRequest } from 'fastify'

import { notFound, unknownHost } from '../errors.ts'
import type { Config } from './config/config.ts'
import { defineExtension } from './define-plugin.ts'

export default defineExtension({
  name: 'dev-hosts',
  needs: ['config', 'addHook'],
  install(house) {
    if (!house.config.dev) return
    const isOurs = createIsOurs(house.config)
    house.addHook('onRequest', (request, _reply, done) => {
      if (isOfDevelopment(request)) refuseOthers(request, isOurs)
      done()
    })
  },
})

/** By its route, so that no prefix and no spelling of the path goes past this. */
function isOfDevelopment({ routeOptions: { url = '' } }: FastifyRequest): boolean {
  return /^\/(dev|docs)(\/|$)/.test(url)
}

function refuseOthers({ headers }: FastifyRequest, isOurs: (name: string) => boolean): void {
  // What a proxy forwards is not looked at: a page can send such a header itself, but not `Host`.
  const host = nameIn(`http://${headers.host}`)
  // No DNS leads to an address, so its page is our own.
  if (host === undefined || !(isOurs(host) || isAddress(host))) throw unknownHost()
  if (headers['sec-fetch-mode'] === 'navigate') return
  if (headers['sec-fetch-site'] === 'cross-site') throw notFound()
  if (headers.origin === undefined) return
  // Browsers leave the Sec-Fetch headers out on the way to an address without TLS that is not of this machine.
  const origin = nameIn(headers.origin)
  if (origin === undefined || !(isOurs(origin) || origin === host)) throw unknownHost()
}

const loopback = /^(.+\.)?localhost$|^127\.\d+\.\d+\.\d+$|^\[::1\]$/

/** The names of the own machine, and those that the operator gave the server or the site. */
function createIsOurs(config: Config): (name: string) => boolean {
  const { AUTH_API_HOST, AUTH_API_EXTERNAL_URL, AUTH_SITE_URL, AUTH_MAILER_EXTERNAL_HOSTS } = config
  const given = [AUTH_API_HOST, ...AUTH_MAILER_EXTERNAL_HOSTS].map((host) =>
    nameIn(`http://${host}`),
  )
  const names = new Set([nameIn(AUTH_API_EXTERNAL_URL), nameIn(AUTH_SITE_URL), ...given])
  return (name) => names.has(name) || loopback.test(name)
}

/** As browsers write it: in small letters, addresses in their one form. */
function nameIn(url: string): string | undefined {
  return URL.parse(url)?.hostname
}

function isAddress(name: string): boolean {
  return isIP(name.replace(/^\[|\]$/g, '')) !== 0
}
