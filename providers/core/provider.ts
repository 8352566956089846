import type {
  AuthorizationRequest,
  Callback,
  IdTokenRules,
  ProviderAuthorization,
  ProviderDocs,
  ProviderHttp,
  ProviderIdentity,
  ProviderSettings,
} from './types.ts'

export interface Provider {
  /** The URL to redirect the browser to. Throws ProviderError: configuration, discovery, request_token. */
  authorizationUrl(request: AuthorizationRequest): Promise<ProviderAuthorization>
  /** The identity of the user. Throws ProviderError of any other kind. */
  identity(callback: Callback): Promise<ProviderIdentity>
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
