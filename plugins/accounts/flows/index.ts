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

function createFlows(house: House<'config' | 'db' | 'encryption' | 'oauthProviders' | 'otp'>) {
  return {
    ...{ start, issueCode, isAnswered, methodOf, deleteOf, deleteAnsweredOf },
    ...bindSteps(house, { bindBrowser, browserCookie, clearedCookie, isRightBrowser }),
    ...bindSteps(house, { providerTokens, beginOauth, findOauth, claimOauth, issueOauthCode }),
  }
}

export default definePlugin({
  name: 'flows',
  needs: ['config', 'db', 'encryption', 'oauthProviders', 'otp'],
  create: createFlows,
})
