/** Flows that end in an authorization code: PKCE by mailed link, and sign-ins through an OAuth provider. */
import { bindSteps, definePlugin, type House } from '../../define-plugin.ts'
import { bindBrowser, browserCookie, clearedCookie, isRightBrowser } from './browser-binding.ts'
import { deleteAnsweredOf, deleteOf } from './end.ts'
import { beginOauth, claimOauth, findOauth, issueOauthCode } from './oauth-state.ts'
import { isAnswered, issueCode, methodOf, providerTokens, start } from './pkce-flows.ts'

declare module 'fastify' {
  interface FastifyInstance {
    flows: ReturnType<typeof createFlows>
  }
}

type Needs = (typeof needs)[number]

const needs = ['config', 'db', 'encryption', 'oauthProviders', 'otp', 'takeover'] as const

function createFlows(house: House<Needs>) {
  return {
    ...{ start, issueCode, isAnswered, methodOf, deleteOf, deleteAnsweredOf },
    ...bindSteps(house, { bindBrowser, browserCookie, clearedCookie, isRightBrowser }),
    ...bindSteps(house, { providerTokens, beginOauth, findOauth, claimOauth, issueOauthCode }),
  }
}

export default definePlugin({
  name: 'flows',
  needs,
  create: createFlows,
})
