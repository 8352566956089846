/**
 * Flows through a browser: PKCE by mailed link, sign-ins through an OAuth provider, and where the browser goes on to in the
 * end, with what.
 */
import { bindSteps, definePlugin, type House } from '../../define-plugin.ts'
import { beginOauth } from './begin-oauth.ts'
import { bindBrowser, browserCookie, clearedCookie, isRightBrowser } from './browser-binding.ts'
import { deleteAnsweredOf, deleteOf } from './end.ts'
import { linkContext } from './link-context.ts'
import { claimOauth, findOauth, issueOauthCode } from './oauth-state.ts'
import { readPkce } from './pkce.ts'
import { isAnswered, issueCode, methodOf, providerTokens, start } from './pkce-flows.ts'
import {
  createRedirectPolicy,
  resolveTarget,
  withCode,
  withError,
  withMessage,
  withOauthError,
  withSession,
} from './redirects.ts'

declare module 'fastify' {
  interface FastifyInstance {
    flows: ReturnType<typeof createFlows>
  }
}

type Needs = (typeof needs)[number]

const needs = ['config', 'db', 'encryption', 'mailer', 'oauthProviders', 'otp', 'takeover'] as const

function createFlows(house: House<Needs>) {
  const { config, mailer } = house
  const asking = { config, mailer, ...createRedirectPolicy(house) }
  return {
    readPkce,
    start,
    issueCode,
    isAnswered,
    methodOf,
    deleteOf,
    deleteAnsweredOf,
    withCode,
    withError,
    withMessage,
    withOauthError,
    withSession,
    ...bindSteps(asking, { resolveTarget, linkContext }),
    ...bindSteps(house, { bindBrowser, browserCookie, clearedCookie, isRightBrowser }),
    ...bindSteps(house, { providerTokens, beginOauth, findOauth, claimOauth, issueOauthCode }),
  }
}

export default definePlugin({
  name: 'flows',
  needs,
  create: createFlows,
})
