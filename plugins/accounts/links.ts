/** One-time links and their codes, by kind: what is made, where the link leads, and what it proves later. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

import type { Db } from '../../db/database.ts'
import { insertFlowState } from '../../db/flow-states.ts'
import { type LinkFacts, type LinkKind, linkKinds } from './links/kinds.ts'
import { type Pkce, type PkceFields, readPkce } from './pkce.ts'
import type { AuthenticationMethod } from './sessions.ts'

declare module 'fastify' {
  interface FastifyInstance {
    links: ReturnType<typeof createLinks>
  }
}

/** What a link needs to know of the request that asked for it; plain JSON, so that a queue can hold it. */
export interface LinkContext {
  redirectTo: string
  /** Where this server is reached by whoever opens the link. */
  baseUrl: string
  pkce: Pkce | undefined
  /** The UUID of the message, when the client is told one. */
  messageId?: string
}

export interface Link {
  url: string
  code: string
  linkToken: string
  expiresAt: Date
}

interface LinkDeps {
  oneTimeTokens: FastifyInstance['oneTimeTokens']
  mailer: Pick<FastifyInstance['mailer'], 'confirmationUrl' | 'baseUrl'>
  redirects: FastifyInstance['redirects']
  urlPaths: Record<LinkFacts['path'], string | undefined>
  digits: number
  ttlSeconds: number
}

export function createLinks(deps: LinkDeps) {
  const { oneTimeTokens, mailer, redirects, urlPaths, digits, ttlSeconds } = deps

  return {
    ttlSeconds,

    /**
     * What the links of this request need to know; `redirectTo` comes before what the request itself names.
     * Throws validation_failed for PKCE fields that are incomplete or malformed.
     */
    contextOf(request: FastifyRequest, fields: PkceFields, redirectTo?: string): LinkContext {
      return {
        redirectTo: redirects.resolve(request, redirectTo),
        baseUrl: mailer.baseUrl(request.headers),
        pkce: readPkce(fields),
      }
    },

    /** Makes the link and replaces the one of the same kind that the person may have. */
    async create(
      db: Db,
      kind: LinkKind,
      person: { id: string; address: string },
      { redirectTo, baseUrl, pkce }: LinkContext,
      now: Date,
    ): Promise<Link> {
      const { tokenType, verificationType, path, flowMethod } = linkKinds[kind]
      const usesPkce = pkce !== undefined && flowMethod !== undefined
      const { id: userId, address } = person
      const token = await oneTimeTokens.create(
        db,
        { userId, type: tokenType, address, digits, ttlSeconds, pkce: usesPkce },
        now,
      )
      const url = mailer.confirmationUrl({
        base: baseUrl,
        urlPath: urlPaths[path],
        token: token.linkToken,
        type: verificationType,
        redirectTo,
      })
      return { ...token, url, expiresAt: new Date(now.getTime() + ttlSeconds * 1000) }
    },

    /** A code that no link leads to: what a signed-in person types to show that the mailbox is theirs. */
    async createNonce(db: Db, userId: string, address: string, now: Date) {
      const { code } = await oneTimeTokens.create(
        db,
        { userId, type: 'reauthentication_token', address, digits, ttlSeconds, pkce: false },
        now,
      )
      return { code, expiresAt: new Date(now.getTime() + ttlSeconds * 1000) }
    },

    isPkce: (linkToken: string): boolean => oneTimeTokens.isPkce(linkToken),

    /** The method of the flow that a verified link of this type belongs to. */
    flowMethodOf(type: string): AuthenticationMethod {
      const kind = Object.values(linkKinds).find((facts) => facts.verificationType === type)
      return kind?.flowMethod ?? 'otp'
    },

    /** Remembers the challenge, so that the opened link can end in a code for the client that asked. */
    async startFlow(db: Db, kind: LinkKind, userId: string, pkce: Pkce | undefined, now: Date) {
      const { flowMethod } = linkKinds[kind]
      if (!pkce || !flowMethod) return
      const flow = {
        id: crypto.randomUUID(),
        user_id: userId,
        auth_code: null,
        code_challenge: pkce.challenge,
        code_challenge_method: pkce.method,
        provider_type: 'email',
        authentication_method: flowMethod,
      }
      await insertFlowState(db, flow, now)
    },
  }
}

/** A path equal to the default is below the server's own URL, whatever path that URL has. */
const configuredPath = (path: string) => (path === '/verify' ? undefined : path)

async function links(fastify: FastifyInstance) {
  const { config, oneTimeTokens, mailer, redirects } = fastify
  const decorator = createLinks({
    oneTimeTokens,
    mailer,
    redirects,
    urlPaths: {
      CONFIRMATION: configuredPath(config.AUTH_MAILER_URLPATHS_CONFIRMATION),
      INVITE: configuredPath(config.AUTH_MAILER_URLPATHS_INVITE),
      RECOVERY: configuredPath(config.AUTH_MAILER_URLPATHS_RECOVERY),
      EMAIL_CHANGE: configuredPath(config.AUTH_MAILER_URLPATHS_EMAIL_CHANGE),
    },
    digits: config.AUTH_MAILER_OTP_LENGTH,
    ttlSeconds: config.AUTH_MAILER_OTP_EXP,
  })
  fastify.decorate('links', decorator)
}

export default fp(links, {
  name: 'links',
  fastify: '5.x',
  dependencies: ['config', 'one-time-tokens', 'mailer', 'redirects'],
})
