/** The origin of a token request. */
import type { ClientInfo } from '../../../plugins/http/client-info/index.ts'

export interface Origin {
  client: ClientInfo
  ip: string
}
