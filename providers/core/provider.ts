import type {
  Authorization,
  AuthorizationRequest,
  Callback,
  Identity,
  IdTokenRules,
  ProviderDocs,
  ProviderHttp,
  ProviderSettings,
} from './types.ts'

export interface Provider {
  /** The URL to redirect the browser to. Throws ProviderError: configuration, discovery, request_token. */
  authorizationUrl(request: AuthorizationRequest): Promise<Authorization>
  /** The identity of the user. Throws ProviderError of any other kind. */
  identity(callback: Callback): Promise<Identity>
}

export interface ProviderDefinition {
  docs: ProviderDocs
  create(settings: ProviderSettings, upstream: ProviderHttp): Provider
  idToken?: IdTokenRules
}

/** A provider with a file in vendors/. */
export interface NamedProviderDefinition extends ProviderDefinition {
  /** The display name, used in emails. */
  name: string
}
