/** Made by `npm run openapi`. */
export interface paths {
    "/invite": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: {
                    redirect_to?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        email: string;
                        data?: {
                            [key: string]: unknown;
                        };
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["User"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["User"];
                    };
                };
            };
        };
        put: {
            parameters: {
                query?: {
                    redirect_to?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        email?: string;
                        phone?: string;
                        channel?: "sms" | "whatsapp";
                        password?: string;
                        current_password?: string;
                        nonce?: string;
                        data?: {
                            [key: string]: unknown;
                        };
                        app_metadata?: {
                            [key: string]: unknown;
                        };
                        code_challenge?: string;
                        code_challenge_method?: "s256" | "plain";
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["User"];
                    };
                };
            };
        };
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        nonce?: string;
                        password?: string;
                    };
                };
            };
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/reauthenticate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            message_id: string;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{user_id}/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    user_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Devices"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    user_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{user_id}/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    user_id: string;
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            keys: components["schemas"]["SigningKey"][];
                        };
                    };
                };
            };
        };
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        action: "rotate" | "revoke" | "import";
                        alg?: "RS256" | "ES256" | "EdDSA";
                        kid?: string;
                        jwk?: {
                            kty: string;
                            kid?: string;
                            alg?: string;
                        };
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            keys: components["schemas"]["SigningKey"][];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    page?: string;
                    per_page?: string;
                    state?: "confirmed" | "unconfirmed" | "invited" | "banned" | "anonymous" | "sso" | "deleted";
                    provider?: string;
                    created_after?: string;
                    created_before?: string;
                    sort?: string;
                    filter?: string;
                    q?: string;
                    limit?: string;
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            users: components["schemas"]["User"][];
                            aud: string;
                            next_cursor?: string;
                            pagination?: {
                                next_cursor?: string;
                                has_more: boolean;
                            };
                        };
                    };
                };
            };
        };
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        id?: string;
                        aud?: string;
                        role?: string;
                        email?: string;
                        phone?: string;
                        password?: string;
                        email_confirm?: boolean;
                        phone_confirm?: boolean;
                        user_metadata?: {
                            [key: string]: unknown;
                        };
                        app_metadata?: {
                            [key: string]: unknown;
                        };
                        ban_duration?: string;
                        password_hash?: string;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["User"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    user_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AdminUser"];
                    };
                };
            };
        };
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    user_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        role?: string;
                        email?: string;
                        phone?: string;
                        password?: string;
                        email_confirm?: boolean;
                        phone_confirm?: boolean;
                        user_metadata?: {
                            [key: string]: unknown;
                        };
                        app_metadata?: {
                            [key: string]: unknown;
                        };
                        ban_duration?: string;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AdminUser"];
                    };
                };
            };
        };
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    user_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        id?: string;
                        aud?: string;
                        role?: string;
                        email?: string;
                        phone?: string;
                        password?: string;
                        email_confirm?: boolean;
                        phone_confirm?: boolean;
                        user_metadata?: {
                            [key: string]: unknown;
                        };
                        app_metadata?: {
                            [key: string]: unknown;
                        };
                        ban_duration?: string;
                        password_hash?: string;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["User"];
                    };
                };
            };
        };
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    user_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        should_soft_delete?: boolean;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{user_id}/factors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    user_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Factor"][];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{user_id}/factors/{factor_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    user_id: string;
                    factor_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        friendly_name?: string;
                        phone?: string;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Factor"];
                    };
                };
            };
        };
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    user_id: string;
                    factor_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Factor"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{user_id}/impersonate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    user_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        reason?: string;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Session"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/generate_link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: {
                    redirect_to?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        type: "signup" | "magiclink" | "recovery" | "invite" | "email_change_current" | "email_change_new";
                        email: string;
                        new_email?: string;
                        password?: string;
                        data?: {
                            [key: string]: unknown;
                        };
                        redirect_to?: string;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            id: string;
                            aud: string;
                            role: string;
                            email: string;
                            email_confirmed_at?: string;
                            invited_at?: string;
                            phone: string;
                            phone_confirmed_at?: string;
                            confirmation_sent_at?: string;
                            confirmed_at?: string;
                            recovery_sent_at?: string;
                            new_email?: string;
                            email_change_sent_at?: string;
                            new_phone?: string;
                            phone_change_sent_at?: string;
                            reauthentication_sent_at?: string;
                            last_sign_in_at?: string;
                            app_metadata: {
                                [key: string]: unknown;
                            };
                            user_metadata: {
                                [key: string]: unknown;
                            };
                            factors?: components["schemas"]["Factor"][];
                            identities: components["schemas"]["Identity"][] | null;
                            created_at: string;
                            updated_at: string;
                            banned_until?: string;
                            deleted_at?: string;
                            is_anonymous: boolean;
                            action_link: string;
                            email_otp: string;
                            hashed_token: string;
                            verification_type: string;
                            redirect_to: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    page?: string;
                    per_page?: string;
                    query?: string;
                    user_id?: string;
                    action?: string;
                    from?: string;
                    to?: string;
                    limit?: string;
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AuditEntry"][];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{user_id}/passkeys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    user_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Passkey"][];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{user_id}/passkeys/{passkey_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    user_id: string;
                    passkey_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{user_id}/factors/recovery_codes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    user_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RemainingRecoveryCodes"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    user_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    after?: string;
                    limit?: string;
                    type?: string;
                    user_id?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            events: components["schemas"]["Event"][];
                            next: number;
                            has_more: boolean;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            webhooks: components["schemas"]["Webhook"][];
                        };
                    };
                };
            };
        };
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        url: string;
                        description?: string;
                        events?: ("user.created" | "user.updated" | "user.invited" | "user.banned" | "user.unbanned" | "user.deleted" | "user.signed_in" | "user.signed_out" | "user.impersonated" | "session.revoked" | "refresh_token.reuse_detected" | "password.changed" | "email.confirmed" | "email.changed" | "phone.confirmed" | "phone.changed" | "identity.linked" | "identity.unlinked" | "factor.enrolled" | "factor.unenrolled" | "passkey.created" | "passkey.deleted" | "recovery_code.used" | "oauth.client_created" | "oauth.client_updated" | "oauth.client_deleted" | "oauth.consent_granted" | "oauth.consent_revoked" | "email.dead_lettered" | "signing_key.rotated" | "signing_key.imported" | "signing_key.revoked" | "admin.added" | "admin.changed" | "admin.removed" | "provider.created" | "provider.updated" | "provider.deleted" | "organization.created" | "organization.updated" | "organization.deleted" | "organization.restored" | "organization.activated" | "organization.member_added" | "organization.member_updated" | "organization.member_removed" | "organization.invitation_created" | "organization.invitation_revoked" | "organization.invitation_accepted" | "organization.invitation_declined" | "organization.role_created" | "organization.role_updated" | "organization.role_deleted" | "organization.domain_added" | "organization.domain_verified" | "organization.domain_removed" | "organization.connection_created" | "organization.connection_updated" | "organization.connection_deleted" | "organization.group_created" | "organization.group_updated" | "organization.group_deleted")[];
                        secret?: string;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["WebhookWithSecret"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/webhooks/{webhook_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    webhook_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Webhook"];
                    };
                };
            };
        };
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    webhook_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        url?: string;
                        description?: string;
                        events?: ("user.created" | "user.updated" | "user.invited" | "user.banned" | "user.unbanned" | "user.deleted" | "user.signed_in" | "user.signed_out" | "user.impersonated" | "session.revoked" | "refresh_token.reuse_detected" | "password.changed" | "email.confirmed" | "email.changed" | "phone.confirmed" | "phone.changed" | "identity.linked" | "identity.unlinked" | "factor.enrolled" | "factor.unenrolled" | "passkey.created" | "passkey.deleted" | "recovery_code.used" | "oauth.client_created" | "oauth.client_updated" | "oauth.client_deleted" | "oauth.consent_granted" | "oauth.consent_revoked" | "email.dead_lettered" | "signing_key.rotated" | "signing_key.imported" | "signing_key.revoked" | "admin.added" | "admin.changed" | "admin.removed" | "provider.created" | "provider.updated" | "provider.deleted" | "organization.created" | "organization.updated" | "organization.deleted" | "organization.restored" | "organization.activated" | "organization.member_added" | "organization.member_updated" | "organization.member_removed" | "organization.invitation_created" | "organization.invitation_revoked" | "organization.invitation_accepted" | "organization.invitation_declined" | "organization.role_created" | "organization.role_updated" | "organization.role_deleted" | "organization.domain_added" | "organization.domain_verified" | "organization.domain_removed" | "organization.connection_created" | "organization.connection_updated" | "organization.connection_deleted" | "organization.group_created" | "organization.group_updated" | "organization.group_deleted")[];
                        state?: "active" | "paused";
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Webhook"];
                    };
                };
            };
        };
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    webhook_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/webhooks/{webhook_id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    state?: "waiting" | "delivered" | "dead";
                    before?: string;
                    limit?: string;
                };
                header?: never;
                path: {
                    webhook_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            deliveries: components["schemas"]["WebhookDelivery"][];
                            next: number | null;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/webhooks/{webhook_id}/rotate_secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    webhook_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        secret?: string;
                        overlap?: number;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["WebhookWithSecret"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/webhooks/{webhook_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    webhook_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            accepted: boolean;
                            request: {
                                url: string;
                                headers: {
                                    "content-type": string;
                                    "webhook-id": string;
                                };
                                body: components["schemas"]["WebhookBody"];
                            };
                            answer: {
                                status: number | null;
                                body: string;
                                error: string | null;
                                duration_ms: number;
                            };
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/webhooks/{webhook_id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    webhook_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        events?: string[];
                        since?: string;
                        until?: string;
                        after?: number;
                        dead?: boolean;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            queued: number;
                            next: number | null;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{user_id}/resend_invitation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: {
                    redirect_to?: string;
                };
                header?: never;
                path: {
                    user_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["User"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{user_id}/mails": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    user_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["MailDeliveries"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/custom-providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    type?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            providers: components["schemas"]["CustomProvider"][];
                        };
                    };
                };
            };
        };
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        provider_type?: string;
                        identifier?: string;
                        client_secret?: string;
                        discovery_url?: string;
                        jwks_uri?: string;
                        id_token_signed_response_alg?: string;
                        shared_callback?: boolean;
                        organization_bound?: boolean;
                        name?: string;
                        client_id?: string;
                        acceptable_client_ids?: string[];
                        scopes?: string[];
                        pkce_enabled?: boolean;
                        attribute_mapping?: {
                            [key: string]: unknown;
                        };
                        custom_claims_allowlist?: string[];
                        authorization_params?: {
                            [key: string]: unknown;
                        };
                        enabled?: boolean;
                        email_optional?: boolean;
                        skip_nonce_check?: boolean;
                        issuer?: string;
                        authorization_url?: string;
                        token_url?: string;
                        userinfo_url?: string;
                    };
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CustomProvider"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/custom-providers/{identifier}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    identifier: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CustomProvider"];
                    };
                };
            };
        };
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    identifier: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        provider_type?: string;
                        identifier?: string;
                        client_secret?: string;
                        discovery_url?: string;
                        jwks_uri?: string;
                        id_token_signed_response_alg?: string;
                        shared_callback?: boolean;
                        organization_bound?: boolean;
                        name?: string;
                        client_id?: string;
                        acceptable_client_ids?: string[];
                        scopes?: string[];
                        pkce_enabled?: boolean;
                        attribute_mapping?: {
                            [key: string]: unknown;
                        };
                        custom_claims_allowlist?: string[];
                        authorization_params?: {
                            [key: string]: unknown;
                        };
                        enabled?: boolean;
                        email_optional?: boolean;
                        skip_nonce_check?: boolean;
                        issuer?: string;
                        authorization_url?: string;
                        token_url?: string;
                        userinfo_url?: string;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CustomProvider"];
                    };
                };
            };
        };
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    identifier: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/sso/providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    resource_id?: string;
                    resource_id_prefix?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            items: components["schemas"]["SsoProvider"][];
                        };
                    };
                };
            };
        };
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        type?: string;
                        metadata_xml?: string;
                        metadata_url?: string;
                        domains?: string[];
                        attribute_mapping?: {
                            keys?: {
                                [key: string]: {
                                    name?: string;
                                    names?: string[];
                                    default?: unknown;
                                    array?: boolean;
                                };
                            };
                        };
                        name_id_format?: string;
                        idp_initiated?: "default" | "allow" | "deny";
                        resource_id?: string;
                        disabled?: boolean;
                    };
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SsoProvider"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/sso/providers/{provider}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    provider: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SsoProvider"];
                    };
                };
            };
        };
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    provider: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        type?: string;
                        metadata_xml?: string;
                        metadata_url?: string;
                        domains?: string[];
                        attribute_mapping?: {
                            keys?: {
                                [key: string]: {
                                    name?: string;
                                    names?: string[];
                                    default?: unknown;
                                    array?: boolean;
                                };
                            };
                        };
                        name_id_format?: string;
                        idp_initiated?: "default" | "allow" | "deny";
                        resource_id?: string;
                        disabled?: boolean;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SsoProvider"];
                    };
                };
            };
        };
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    provider: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SsoProvider"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            role: "support" | "operator" | "owner";
                            user: {
                                id: string;
                                email: string | null;
                                phone: string | null;
                            } | null;
                            allowed: string[];
                            custom_providers: boolean;
                            events: boolean;
                            impersonation: boolean;
                            oauth_server: boolean;
                            organizations: boolean;
                            saml: boolean;
                            version: string;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/admins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Admins"];
                    };
                };
            };
        };
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        user_id?: string;
                        email?: string;
                        role: "support" | "operator" | "owner";
                    };
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Admin"];
                    };
                };
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AdminInvitation"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/admins/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    user_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        role: "support" | "operator" | "owner";
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Admin"];
                    };
                };
            };
        };
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    user_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/statistics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    range?: "24h" | "7d" | "30d";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Statistics"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/mail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    state?: "waiting" | "dead" | "sent";
                    kind?: string;
                    cursor?: string;
                    limit?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["QueuedMails"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/mail/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        uncertain?: boolean;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/mail/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        uncertain?: boolean;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            queued: number;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/mail/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/mail/templates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            kinds: string[];
                            languages: {
                                tag: string;
                                name: string;
                            }[];
                            default_language: string;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/mail/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query: {
                    kind: string;
                    locale?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            kind: string;
                            locale: string;
                            subject: string;
                            html: string;
                            text: string;
                        };
                    };
                };
            };
        };
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        kind: string;
                        locale?: string;
                        subject?: string;
                        template?: string;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            kind: string;
                            locale: string;
                            subject: string;
                            html: string;
                            text: string;
                            problems: string[];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/mail/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        kind: string;
                        locale?: string;
                        address: string;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            message_id: string;
                            response: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/audit/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    query?: string;
                    user_id?: string;
                    action?: string;
                    from?: string;
                    to?: string;
                    format?: "csv" | "ndjson";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/csv": string;
                        "application/x-ndjson": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        action: "ban" | "unban" | "delete";
                        ids: string[];
                        ban_duration?: string;
                        should_soft_delete?: boolean;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            done: string[];
                            failed: {
                                id: string;
                                error_code: string;
                                msg: string;
                            }[];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    state?: "confirmed" | "unconfirmed" | "invited" | "banned" | "anonymous" | "sso" | "deleted";
                    provider?: string;
                    created_after?: string;
                    created_before?: string;
                    q?: string;
                    sort?: string;
                    format?: "csv" | "ndjson";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/csv": string;
                        "application/x-ndjson": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{user_id}/grants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    user_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OauthGrant"][];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{user_id}/grants/{client_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    user_id: string;
                    client_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: {
                    dry_run?: "true" | "false";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "text/csv": string;
                    "application/x-ndjson": string;
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            total: number;
                            accepted: number;
                            rejected: {
                                line: number;
                                reason: string;
                            }[];
                            left_out: {
                                [key: string]: number;
                            };
                            dry_run: boolean;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{user_id}/send_link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    user_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        type: "confirmation" | "magiclink" | "recovery" | "invite";
                        redirect_to?: string;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/oauth/clients/{client_id}/consents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    limit?: string;
                };
                header?: never;
                path: {
                    client_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            consents: {
                                user_id: string;
                                email: string | null;
                                scopes: string[];
                                granted_at: string;
                            }[];
                            next_cursor: string | null;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/doctor": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            passed: number;
                            warnings: number;
                            failed: number;
                            results: {
                                check: string;
                                level: "pass" | "warn" | "fail";
                                sentence: string;
                            }[];
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/hooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            hooks: {
                                name: string;
                                enabled: boolean;
                                uri: string | null;
                                has_secret: boolean;
                                calls: number;
                                failures: number;
                            }[];
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            providers: components["schemas"]["ProviderSummary"][];
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/providers/{name}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            ok: boolean;
                            steps: {
                                step: string;
                                ok: boolean;
                                detail: string;
                            }[];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Variables"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ChangeableSettings"];
                    };
                };
            };
        };
        put: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        values: {
                            [key: string]: string;
                        };
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ChangeableSettings"];
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/settings/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ChangeableSettings"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/settings/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    name?: string;
                    before?: string;
                    limit?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            changes: components["schemas"]["SettingChange"][];
                            next: number | null;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/settings/history/{id}/revert": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        force?: boolean;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ChangeableSettings"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{user_id}/username": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    user_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            username: string | null;
                        };
                    };
                };
            };
        };
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    user_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        username: string;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            username: string | null;
                        };
                    };
                };
            };
        };
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    user_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/organizations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    limit?: string;
                    cursor?: string;
                    search?: string;
                    deleted?: "true" | "false";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            organizations: components["schemas"]["AdminOrganization"][];
                            next: string | null;
                        };
                    };
                };
            };
        };
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        name: string;
                        slug?: string;
                        metadata?: {
                            [key: string]: unknown;
                        };
                        owner_id?: string;
                    };
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AdminOrganization"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/organizations/{organization_id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    organization_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AdminOrganization"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/organizations/{organization_id}/purge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    organization_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/organization-roles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            roles: components["schemas"]["OrganizationRole"][];
                        };
                    };
                };
            };
        };
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        name: string;
                        description?: string;
                        permissions?: string[];
                    };
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OrganizationRole"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/organization-roles/{role}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    role: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        description?: string;
                        permissions?: string[];
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OrganizationRole"];
                    };
                };
            };
        };
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    role: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/organizations/{organization_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    organization_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Organization"];
                    };
                };
            };
        };
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    organization_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        name?: string;
                        slug?: string;
                        metadata?: {
                            [key: string]: unknown;
                        };
                        joining?: {
                            invitation?: boolean;
                            domain?: "off" | "suggested" | "automatic";
                            sso?: boolean;
                            scim?: boolean;
                        };
                        default_role?: string;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Organization"];
                    };
                };
            };
        };
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    organization_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/organizations/{organization_id}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    limit?: string;
                    cursor?: string;
                    search?: string;
                    role?: string;
                };
                header?: never;
                path: {
                    organization_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            members: components["schemas"]["OrganizationMember"][];
                            next: string | null;
                        };
                    };
                };
            };
        };
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    organization_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        user_id: string;
                        role?: string;
                    };
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OrganizationMember"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/organizations/{organization_id}/members/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    organization_id: string;
                    user_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OrganizationMember"];
                    };
                };
            };
        };
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    organization_id: string;
                    user_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        role: string;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OrganizationMember"];
                    };
                };
            };
        };
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    organization_id: string;
                    user_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/organizations/{organization_id}/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    limit?: string;
                    cursor?: string;
                };
                header?: never;
                path: {
                    organization_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            invitations: components["schemas"]["OrganizationInvitation"][];
                            next: string | null;
                        };
                    };
                };
            };
        };
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    organization_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        email: string;
                        role?: string;
                        redirect_to?: string;
                    };
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OrganizationInvitation"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/organizations/{organization_id}/invitations/{invitation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    organization_id: string;
                    invitation_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/organizations/{organization_id}/roles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    organization_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            roles: components["schemas"]["OrganizationRole"][];
                        };
                    };
                };
            };
        };
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    organization_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        name: string;
                        description?: string;
                        permissions?: string[];
                    };
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OrganizationRole"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/organizations/{organization_id}/roles/{role}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    organization_id: string;
                    role: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        description?: string;
                        permissions?: string[];
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OrganizationRole"];
                    };
                };
            };
        };
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    organization_id: string;
                    role: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/organizations/{organization_id}/domains": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    organization_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            domains: components["schemas"]["OrganizationDomain"][];
                        };
                    };
                };
            };
        };
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    organization_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        domain: string;
                    };
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OrganizationDomain"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/organizations/{organization_id}/domains/{domain_id}/send_code": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    organization_id: string;
                    domain_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        address: string;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OrganizationDomain"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/organizations/{organization_id}/domains/{domain_id}/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    organization_id: string;
                    domain_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        code?: string;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OrganizationDomain"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/organizations/{organization_id}/domains/{domain_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    organization_id: string;
                    domain_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/organizations/{organization_id}/connections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    organization_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            connections: components["schemas"]["OrganizationConnection"][];
                        };
                    };
                };
            };
        };
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    organization_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        name: string;
                        enabled?: boolean;
                        default_role?: string;
                        role_mapping?: {
                            attribute: string;
                            value: string;
                            role: string;
                        }[];
                        sso_provider_id?: string;
                        custom_provider?: string;
                    };
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OrganizationConnection"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/organizations/{organization_id}/connections/{connection_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    organization_id: string;
                    connection_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        name?: string;
                        enabled?: boolean;
                        default_role?: string;
                        role_mapping?: {
                            attribute: string;
                            value: string;
                            role: string;
                        }[];
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OrganizationConnection"];
                    };
                };
            };
        };
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    organization_id: string;
                    connection_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/organizations/{organization_id}/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    organization_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            groups: components["schemas"]["OrganizationGroup"][];
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/organizations/{organization_id}/groups/{group_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    organization_id: string;
                    group_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        role?: string;
                        priority?: number;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OrganizationGroup"];
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/organizations/{organization_id}/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    limit?: string;
                    cursor?: string;
                    action?: string;
                };
                header?: never;
                path: {
                    organization_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            entries: {
                                id: string;
                                action: string;
                                actor_id: string | null;
                                actor_name: string;
                                actor?: components["schemas"]["Actor"];
                                act?: components["schemas"]["Act"];
                                traits: {
                                    [key: string]: unknown;
                                };
                                ip_address: string;
                                created_at: string;
                            }[];
                            next: string | null;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/scim/connections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            connections: components["schemas"]["ScimConnection"][];
                        };
                    };
                };
            };
        };
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        name?: string;
                        organization_id?: string;
                        sso_provider_id?: string;
                        default_role?: string;
                        enabled?: boolean;
                        role_mapping?: {
                            group: string;
                            role: string;
                        }[];
                    };
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ScimConnection"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/scim/connections/{connection_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    connection_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ScimConnection"];
                    };
                };
            };
        };
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    connection_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        name?: string;
                        organization_id?: string;
                        sso_provider_id?: string;
                        default_role?: string;
                        enabled?: boolean;
                        role_mapping?: {
                            group: string;
                            role: string;
                        }[];
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ScimConnection"];
                    };
                };
            };
        };
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    connection_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/scim/connections/{connection_id}/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    connection_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            tokens: components["schemas"]["ScimToken"][];
                        };
                    };
                };
            };
        };
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    connection_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        name?: string;
                        expires_in?: number;
                    };
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            id: string;
                            token: string;
                            prefix: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/scim/connections/{connection_id}/tokens/{token_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    connection_id: string;
                    token_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/oauth/clients": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    page?: string;
                    per_page?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            clients: components["schemas"]["OauthClient"][];
                        };
                    };
                };
            };
        };
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["OauthClientCreation"];
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OauthClient"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/oauth/clients/{client_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    client_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OauthClient"];
                    };
                };
            };
        };
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    client_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["OauthClientChange"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OauthClient"];
                    };
                };
            };
        };
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    client_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/oauth/clients/{client_id}/regenerate_secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    client_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        keep_sessions?: boolean;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OauthClient"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Error: {
            code: number | string;
            error_code?: components["schemas"]["ErrorCode"];
            msg?: string;
            message?: string;
            error_id?: string;
            weak_password?: {
                reasons: string[];
            };
            error?: string;
            error_description?: string;
        };
        Settings: {
            external: {
                [key: string]: boolean;
            };
            disable_signup: boolean;
            autoconfirm: boolean;
            mailer_autoconfirm: boolean;
            phone_autoconfirm: boolean;
            sms_provider: string;
            mfa_enabled: boolean;
            saml_enabled: boolean;
            saml_private_key_next_configured: boolean;
            passkeys_enabled: boolean;
        };
        PublicJwk: {
            kty: string;
            kid: string;
            alg: string;
            use: "sig";
            key_ops: "verify"[];
            n?: string;
            e?: string;
            crv?: string;
            x?: string;
            y?: string;
        };
        Factor: {
            id: string;
            created_at: string;
            updated_at: string;
            status: "unverified" | "verified";
            friendly_name?: string;
            factor_type: string;
            phone: string;
            last_challenged_at: string | null;
            web_authn_aaguid?: string;
        };
        Identity: {
            identity_id: string;
            id: string;
            user_id: string;
            identity_data?: {
                [key: string]: unknown;
            };
            provider: string;
            last_sign_in_at?: string;
            created_at?: string;
            updated_at?: string;
            email?: string;
        };
        User: {
            id: string;
            aud: string;
            role: string;
            email: string;
            email_confirmed_at?: string;
            invited_at?: string;
            phone: string;
            phone_confirmed_at?: string;
            confirmation_sent_at?: string;
            confirmed_at?: string;
            recovery_sent_at?: string;
            new_email?: string;
            email_change_sent_at?: string;
            new_phone?: string;
            phone_change_sent_at?: string;
            reauthentication_sent_at?: string;
            last_sign_in_at?: string;
            app_metadata: {
                [key: string]: unknown;
            };
            user_metadata: {
                [key: string]: unknown;
            };
            factors?: components["schemas"]["Factor"][];
            identities: components["schemas"]["Identity"][] | null;
            created_at: string;
            updated_at: string;
            banned_until?: string;
            deleted_at?: string;
            is_anonymous: boolean;
        };
        Session: {
            access_token: string;
            token_type: "bearer";
            expires_in: number;
            expires_at: number;
            refresh_token: string;
            user: components["schemas"]["User"];
            type?: string;
            provider_token?: string;
            provider_refresh_token?: string;
            weak_password?: {
                message: string;
                reasons: string[];
            } | null;
        };
        Device: {
            id: string;
            created_at: string;
            last_used_at: string;
            user_agent: string | null;
            ip: string | null;
            impersonated_by?: string;
            client_id?: string;
            current: boolean;
        };
        Devices: {
            sessions: components["schemas"]["Device"][];
        };
        SigningKey: {
            kid: string;
            alg: string;
            state: "standby" | "current" | "previous" | "revoked";
            created_at: string;
            activates_at: string | null;
            retires_at: string | null;
            revoked_at: string | null;
            pinned_by: {
                jti: string;
                role: string;
                expires_at: string | null;
            }[];
        };
        AuditEntry: {
            id: string;
            payload: {
                [key: string]: unknown;
            };
            created_at: string;
            ip_address: string;
        };
        EnrolledFactor: {
            id: string;
            type: string;
            friendly_name: string;
            totp?: {
                qr_code: string;
                secret: string;
                uri: string;
            };
            phone?: string;
        };
        FactorChallenge: {
            id: string;
            type: string;
            expires_at: number;
            webauthn?: {
                type: string;
                credential_options: {
                    publicKey: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        PasskeyChallenge: {
            challenge_id: string;
            options: {
                [key: string]: unknown;
            };
            expires_at: number;
        };
        RemainingRecoveryCodes: {
            remaining: number;
        };
        RecoveryCodes: {
            codes: string[];
        };
        Passkey: {
            id: string;
            friendly_name?: string;
            created_at: string;
            last_used_at?: string;
        };
        EventUser: {
            id: string;
            aud: string;
            role: string;
            email: string;
            phone: string;
            email_confirmed_at: string | null;
            phone_confirmed_at: string | null;
            is_anonymous: boolean;
            is_sso_user: boolean;
            app_metadata: {
                [key: string]: unknown;
            };
            user_metadata: {
                [key: string]: unknown;
            };
            banned_until: string | null;
            created_at: string | null;
            updated_at: string | null;
        };
        Event: {
            id: string;
            position: number;
            type: string;
            timestamp: string;
            data: {
                user_id: string | null;
                user?: components["schemas"]["EventUser"];
            } & {
                [key: string]: unknown;
            };
        };
        Webhook: {
            id: string;
            source: "environment" | "api";
            url: string;
            description: string;
            events: ("user.created" | "user.updated" | "user.invited" | "user.banned" | "user.unbanned" | "user.deleted" | "user.signed_in" | "user.signed_out" | "user.impersonated" | "session.revoked" | "refresh_token.reuse_detected" | "password.changed" | "email.confirmed" | "email.changed" | "phone.confirmed" | "phone.changed" | "identity.linked" | "identity.unlinked" | "factor.enrolled" | "factor.unenrolled" | "passkey.created" | "passkey.deleted" | "recovery_code.used" | "oauth.client_created" | "oauth.client_updated" | "oauth.client_deleted" | "oauth.consent_granted" | "oauth.consent_revoked" | "email.dead_lettered" | "signing_key.rotated" | "signing_key.imported" | "signing_key.revoked" | "admin.added" | "admin.changed" | "admin.removed" | "provider.created" | "provider.updated" | "provider.deleted" | "organization.created" | "organization.updated" | "organization.deleted" | "organization.restored" | "organization.activated" | "organization.member_added" | "organization.member_updated" | "organization.member_removed" | "organization.invitation_created" | "organization.invitation_revoked" | "organization.invitation_accepted" | "organization.invitation_declined" | "organization.role_created" | "organization.role_updated" | "organization.role_deleted" | "organization.domain_added" | "organization.domain_verified" | "organization.domain_removed" | "organization.connection_created" | "organization.connection_updated" | "organization.connection_deleted" | "organization.group_created" | "organization.group_updated" | "organization.group_deleted")[];
            state: "active" | "paused";
            reason: string | null;
            failures: number;
            retry_at: string | null;
            created_at: string;
            updated_at: string;
        };
        WebhookWithSecret: {
            id: string;
            source: "environment" | "api";
            url: string;
            description: string;
            events: ("user.created" | "user.updated" | "user.invited" | "user.banned" | "user.unbanned" | "user.deleted" | "user.signed_in" | "user.signed_out" | "user.impersonated" | "session.revoked" | "refresh_token.reuse_detected" | "password.changed" | "email.confirmed" | "email.changed" | "phone.confirmed" | "phone.changed" | "identity.linked" | "identity.unlinked" | "factor.enrolled" | "factor.unenrolled" | "passkey.created" | "passkey.deleted" | "recovery_code.used" | "oauth.client_created" | "oauth.client_updated" | "oauth.client_deleted" | "oauth.consent_granted" | "oauth.consent_revoked" | "email.dead_lettered" | "signing_key.rotated" | "signing_key.imported" | "signing_key.revoked" | "admin.added" | "admin.changed" | "admin.removed" | "provider.created" | "provider.updated" | "provider.deleted" | "organization.created" | "organization.updated" | "organization.deleted" | "organization.restored" | "organization.activated" | "organization.member_added" | "organization.member_updated" | "organization.member_removed" | "organization.invitation_created" | "organization.invitation_revoked" | "organization.invitation_accepted" | "organization.invitation_declined" | "organization.role_created" | "organization.role_updated" | "organization.role_deleted" | "organization.domain_added" | "organization.domain_verified" | "organization.domain_removed" | "organization.connection_created" | "organization.connection_updated" | "organization.connection_deleted" | "organization.group_created" | "organization.group_updated" | "organization.group_deleted")[];
            state: "active" | "paused";
            reason: string | null;
            failures: number;
            retry_at: string | null;
            created_at: string;
            updated_at: string;
            secret: string;
        };
        WebhookBody: {
            type: string;
            timestamp: string;
            data: {
                user_id: string | null;
                user?: components["schemas"]["EventUser"];
            } & {
                [key: string]: unknown;
            };
        };
        WebhookDelivery: {
            event_id: string;
            position: number;
            type: string;
            state: "waiting" | "delivered" | "dead";
            attempts: number;
            first_attempt_at: string | null;
            last_attempt_at: string | null;
            next_attempt_at: string | null;
            delivered_at: string | null;
            request: {
                url: string;
                headers: {
                    "content-type": string;
                    "webhook-id": string;
                };
                body: components["schemas"]["WebhookBody"];
            };
            answer: {
                status: number | null;
                body: string;
                error: string | null;
                duration_ms: number;
            } | null;
        };
        MailDelivery: {
            id: string;
            kind: string;
            locale: string | null;
            status: "queued" | "sending" | "deferred" | "sent" | "refused" | "failed";
            attempts: number;
            response: string | null;
            created_at: string;
            updated_at: string;
            expires_at: string | null;
            sent_at: string | null;
        };
        MailDeliveries: {
            mails: components["schemas"]["MailDelivery"][];
        };
        RecoveryCodeStatus: {
            id: string;
            type: "recovery_code";
            total: number;
            remaining: number;
        };
        RecoveryCodeSet: {
            id: string;
            type: "recovery_code";
            friendly_name: string;
            total: number;
            codes: string[];
        };
        RecoveryCodesRemoved: {
            id: string;
        };
        CustomProvider: {
            id: string;
            provider_type: "oauth2" | "oidc";
            identifier: string;
            name: string;
            client_id: string;
            acceptable_client_ids: string[];
            scopes: string[];
            pkce_enabled: boolean;
            attribute_mapping: {
                [key: string]: unknown;
            };
            custom_claims_allowlist: string[];
            authorization_params: {
                [key: string]: unknown;
            };
            enabled: boolean;
            email_optional: boolean;
            skip_nonce_check: boolean;
            issuer?: string;
            authorization_url?: string;
            token_url?: string;
            userinfo_url?: string;
            discovery_url?: string;
            jwks_uri?: string;
            id_token_signed_response_alg?: "HS256";
            callback_url: string;
            shared_callback: boolean;
            organization_bound: boolean;
            discovery_document?: {
                issuer: string;
                authorization_endpoint: string;
                token_endpoint: string;
                userinfo_endpoint?: string;
                jwks_uri: string;
                scopes_supported?: string[];
                response_types_supported?: string[];
                grant_types_supported?: string[];
                subject_types_supported?: string[];
            };
            created_at: string;
            updated_at: string;
        };
        ServerMetadata: {
            issuer: string;
            authorization_endpoint: string;
            token_endpoint: string;
            jwks_uri: string;
            userinfo_endpoint: string;
            revocation_endpoint: string;
            introspection_endpoint: string;
            pushed_authorization_request_endpoint: string;
            device_authorization_endpoint: string;
            end_session_endpoint: string;
            registration_endpoint?: string;
            scopes_supported: string[];
            response_types_supported: string[];
            response_modes_supported: string[];
            grant_types_supported: string[];
            subject_types_supported: string[];
            id_token_signing_alg_values_supported: string[];
            acr_values_supported: string[];
            prompt_values_supported: string[];
            token_endpoint_auth_methods_supported: string[];
            token_endpoint_auth_signing_alg_values_supported: string[];
            revocation_endpoint_auth_methods_supported: string[];
            introspection_endpoint_auth_methods_supported: string[];
            claims_supported: string[];
            code_challenge_methods_supported: string[];
            claims_parameter_supported: boolean;
            request_parameter_supported: boolean;
            request_uri_parameter_supported: boolean;
            require_pushed_authorization_requests: boolean;
            authorization_response_iss_parameter_supported: boolean;
            client_id_metadata_document_supported: boolean;
        };
        SsoProvider: {
            id: string;
            resource_id?: string;
            disabled: boolean | null;
            saml: {
                entity_id: string;
                metadata_xml?: string;
                metadata_url?: string;
                attribute_mapping?: {
                    keys?: {
                        [key: string]: {
                            name?: string;
                            names?: string[];
                            default?: unknown;
                            array?: boolean;
                        };
                    };
                };
                name_id_format?: string;
                idp_initiated: "default" | "allow" | "deny";
            };
            domains: {
                domain: string;
            }[];
            created_at: string;
            updated_at: string;
        };
        Admin: {
            user_id: string;
            email: string | null;
            phone: string | null;
            role: "support" | "operator" | "owner";
            has_factor: boolean;
            last_sign_in_at: string | null;
            created_at: string;
            updated_at: string;
        };
        Admins: {
            admins: components["schemas"]["Admin"][];
        };
        Statistics: {
            version: string;
            range: "24h" | "7d" | "30d";
            bucket_seconds: number;
            buckets: string[];
            users: {
                total: number;
                exact: boolean;
                new: {
                    at: string;
                    count: number;
                }[];
            };
            sign_ins: {
                method: string;
                outcome: "success" | "failed" | "limited" | "error";
                total: number;
                counts: number[];
            }[];
            sessions: {
                active: number;
                exact: boolean;
            };
            mail: {
                waiting: number;
                dead: number;
                oldest_waiting: string | null;
            };
            limits: {
                endpoint: string;
                total: number;
                counts: number[];
            }[];
            hooks: {
                name: string;
                calls: number;
                failures: number;
            }[];
            webhooks: {
                active: number;
                paused: number;
                failing: {
                    id: string;
                    url: string;
                    state: "active" | "paused";
                    reason: string | null;
                    failures: number;
                }[];
                dead_deliveries: number;
            };
            keys: {
                kid: string;
                alg: string;
                state: "standby" | "current" | "previous" | "revoked";
                created_at: string;
                age_days: number;
            }[];
        };
        QueuedMail: {
            id: string;
            kind: string;
            locale: string | null;
            status: "queued" | "sending" | "deferred" | "sent" | "refused" | "failed";
            attempts: number;
            response: string | null;
            created_at: string;
            updated_at: string;
            expires_at: string | null;
            sent_at: string | null;
            user_id: string | null;
            retryable: boolean;
            uncertain: boolean;
        };
        QueuedMails: {
            mails: components["schemas"]["QueuedMail"][];
            next_cursor: string | null;
        };
        OauthGrant: {
            client: {
                id: string;
                name: string;
                uri: string;
                logo_uri: string;
            };
            scopes: string[];
            granted_at: string;
        };
        ProviderSummary: {
            name: string;
            title: string;
            kind: "built-in" | "oidc" | "custom";
            enabled: boolean;
            callback_url: string;
            client_id: string | null;
            has_secret: boolean;
            issuer: string | null;
        };
        Variable: {
            name: string;
            group: string;
            description: string;
            type: string;
            default: string | null;
            value: string | null;
            secret: boolean;
            set: boolean;
            source: "environment" | "settings" | "default";
            changeable: boolean;
            doc: string;
        };
        Variables: {
            variables: components["schemas"]["Variable"][];
        };
        Setting: {
            name: string;
            group: string;
            description: string;
            type: string;
            value: string | null;
            default: string | null;
            secret: boolean;
            source: "environment" | "settings" | "default";
            locked: boolean;
            updated_at: string | null;
            updated_by: string | null;
        };
        SettingChange: {
            id: number;
            name: string;
            before: string | null;
            after: string | null;
            secret: boolean;
            changed_by: string | null;
            changed_at: string;
            reverts: number | null;
        };
        UserExport: {
            exported_at: string;
            user: components["schemas"]["User"];
            sessions: components["schemas"]["Device"][];
            passkeys: components["schemas"]["Passkey"][];
            recovery_codes: components["schemas"]["RemainingRecoveryCodes"];
            grants: components["schemas"]["OauthGrant"][];
            activity: {
                at: string;
                action: string;
                ip_address: string;
                actor?: components["schemas"]["Actor"];
                act?: components["schemas"]["Act"];
            }[];
        };
        OrganizationMembership: {
            id: string;
            slug: string;
            name: string;
            metadata: {
                [key: string]: unknown;
            };
            joining: {
                invitation: boolean;
                domain: "off" | "suggested" | "automatic";
                sso: boolean;
                scim: boolean;
            };
            default_role: string;
            created_at: string;
            updated_at: string;
            role: string;
            permissions: string[];
            joined_by: string;
            joined_at: string;
            active: boolean;
        };
        ReceivedInvitation: {
            id: string;
            organization: {
                id: string;
                slug: string;
                name: string;
            };
            role: string;
            created_at: string;
            expires_at: string;
        };
        Organization: {
            id: string;
            slug: string;
            name: string;
            metadata: {
                [key: string]: unknown;
            };
            joining: {
                invitation: boolean;
                domain: "off" | "suggested" | "automatic";
                sso: boolean;
                scim: boolean;
            };
            default_role: string;
            created_at: string;
            updated_at: string;
        };
        AdminOrganization: {
            id: string;
            slug: string;
            name: string;
            metadata: {
                [key: string]: unknown;
            };
            joining: {
                invitation: boolean;
                domain: "off" | "suggested" | "automatic";
                sso: boolean;
                scim: boolean;
            };
            default_role: string;
            created_at: string;
            updated_at: string;
            created_by: string | null;
            deleted_at: string | null;
            member_count?: number;
        };
        OrganizationRole: {
            name: string;
            description: string;
            permissions: string[];
            scope: "system" | "server" | "organization";
        };
        OrganizationMember: {
            user_id: string;
            email: string;
            phone: string;
            name: string | null;
            role: string;
            status: string;
            joined_by: string;
            created_at: string;
            updated_at: string;
        };
        OrganizationInvitation: {
            id: string;
            email: string;
            role: string;
            invited_by: string | null;
            created_at: string;
            expires_at: string;
        };
        OrganizationDomain: {
            id: string;
            domain: string;
            verified_at: string | null;
            verified_by: "dns" | "email" | "admin" | null;
            dns_record: {
                name: string;
                type: string;
                value: string;
            };
            email_addresses: string[];
            created_at: string;
            updated_at: string;
        };
        OrganizationConnection: {
            id: string;
            name: string;
            enabled: boolean;
            default_role: string;
            role_mapping: {
                attribute: string;
                value: string;
                role: string;
            }[];
            sso_provider_id: string | null;
            custom_provider: string | null;
            created_at: string;
            updated_at: string;
        };
        OrganizationGroup: {
            id: string;
            name: string;
            external_id: string | null;
            connection_id: string;
            role: string | null;
            priority: number | null;
            created_at: string;
            updated_at: string;
        };
        ScimConnection: {
            id: string;
            name: string;
            organization_id: string | null;
            has_saml: boolean;
            default_role: string;
            enabled: boolean;
            role_mapping: {
                group: string;
                role: string;
            }[];
            base_url: string;
            created_at: string;
            updated_at: string;
        };
        ScimToken: {
            id: string;
            name: string;
            prefix: string;
            created_at: string;
            expires_at: string | null;
            revoked_at: string | null;
            last_used_at: string | null;
        };
        AdminUser: {
            id: string;
            aud: string;
            role: string;
            email: string;
            email_confirmed_at?: string;
            invited_at?: string;
            phone: string;
            phone_confirmed_at?: string;
            confirmation_sent_at?: string;
            confirmed_at?: string;
            recovery_sent_at?: string;
            new_email?: string;
            email_change_sent_at?: string;
            new_phone?: string;
            phone_change_sent_at?: string;
            reauthentication_sent_at?: string;
            last_sign_in_at?: string;
            app_metadata: {
                [key: string]: unknown;
            };
            user_metadata: {
                [key: string]: unknown;
            };
            factors?: components["schemas"]["Factor"][];
            identities: components["schemas"]["Identity"][] | null;
            created_at: string;
            updated_at: string;
            banned_until?: string;
            deleted_at?: string;
            is_anonymous: boolean;
            deactivated_at?: string;
        };
        ErrorCode: string;
        SamlLogoutMessage: {
            SAMLRequest?: string;
            SAMLResponse?: string;
            RelayState?: string;
            SigAlg?: string;
            Signature?: string;
        };
        ScimResource: {
            [key: string]: unknown;
        };
        ScimError: {
            schemas: string[];
            status: string;
            scimType?: string;
            detail?: string;
        };
        ScimList: {
            [key: string]: unknown;
        };
        ScimSearch: {
            [key: string]: unknown;
        };
        ScimPatch: {
            [key: string]: unknown;
        };
        ChangeableSettings: {
            settings: components["schemas"]["Setting"][];
        };
        AuthorizationRequest: {
            client_id?: string;
            response_type?: "code";
            response_mode?: string;
            redirect_uri?: string;
            scope?: string;
            state?: string;
            nonce?: string;
            code_challenge?: string;
            code_challenge_method?: "S256" | "plain";
            resource?: string[];
            prompt?: string;
            max_age?: string;
            login_hint?: string;
            ui_locales?: string;
            acr_values?: string;
            claims?: string;
            id_token_hint?: string;
            request_uri?: string;
        };
        PushedAuthorizationRequest: {
            response_type?: "code";
            response_mode?: string;
            redirect_uri?: string;
            scope?: string;
            state?: string;
            nonce?: string;
            code_challenge?: string;
            code_challenge_method?: "S256" | "plain";
            resource?: string[];
            prompt?: string;
            max_age?: string;
            login_hint?: string;
            ui_locales?: string;
            acr_values?: string;
            claims?: string;
            id_token_hint?: string;
            client_id?: string;
            client_secret?: string;
            client_assertion?: string;
            client_assertion_type?: string;
        };
        DeviceAuthorizationRequest: {
            scope?: string;
            resource?: string | string[];
            client_id?: string;
            client_secret?: string;
            client_assertion?: string;
            client_assertion_type?: string;
        };
        OauthTokenRequest: {
            grant_type?: string;
            code?: string;
            redirect_uri?: string;
            code_verifier?: string;
            refresh_token?: string;
            device_code?: string;
            scope?: string;
            resource?: string | string[];
            client_id?: string;
            client_secret?: string;
            client_assertion?: string;
            client_assertion_type?: string;
        };
        OauthTokens: {
            access_token: string;
            token_type: string;
            expires_in: number;
            refresh_token?: string;
            id_token?: string;
            scope?: string;
        };
        OauthToken: {
            token?: string;
            token_type_hint?: string;
            client_id?: string;
            client_secret?: string;
            client_assertion?: string;
            client_assertion_type?: string;
        };
        UserinfoRequest: {
            access_token?: string;
        };
        OauthClientRegistration: {
            redirect_uris?: string[];
            token_endpoint_auth_method?: string;
            grant_types?: string[];
            response_types?: string[];
            client_name?: string;
            client_uri?: string;
            logo_uri?: string;
            scope?: string;
            jwks?: {
                keys: {
                    [key: string]: unknown;
                }[];
            };
            jwks_uri?: string;
            post_logout_redirect_uris?: string[];
            require_pushed_authorization_requests?: boolean;
            id_token_signed_response_alg?: string;
            default_max_age?: number;
            contacts?: string[];
            policy_uri?: string;
            tos_uri?: string;
            application_type?: "web" | "native";
            software_id?: string;
            software_version?: string;
            client_type?: "public" | "confidential";
        };
        OauthClient: {
            client_id: string;
            client_secret?: string;
            client_secret_expires_at?: number;
            client_id_issued_at?: number;
            registration_access_token?: string;
            registration_client_uri?: string;
            client_type: "public" | "confidential";
            registration_type: "dynamic" | "manual";
            redirect_uris: string[];
            token_endpoint_auth_method: string;
            grant_types: string[];
            response_types: string[];
            client_name?: string;
            client_uri?: string;
            logo_uri?: string;
            scope?: string;
            jwks?: {
                keys: {
                    [key: string]: unknown;
                }[];
            };
            jwks_uri?: string;
            post_logout_redirect_uris?: string[];
            require_pushed_authorization_requests?: boolean;
            id_token_signed_response_alg?: string;
            default_max_age?: number;
            contacts?: string[];
            policy_uri?: string;
            tos_uri?: string;
            application_type?: "web" | "native";
            software_id?: string;
            software_version?: string;
            require_pkce?: boolean;
            resources?: string[];
            include_default_audience?: boolean;
            created_at: string;
            updated_at: string;
        };
        OauthAuthorization: {
            authorization_id?: string;
            redirect_uri?: string;
            client?: {
                id: string;
                name?: string;
                uri?: string;
                logo_uri?: string;
            };
            user?: {
                id: string;
                email?: string;
            };
            scope?: string;
            prompt?: string;
            max_age?: number;
            acr_values?: string;
            login_hint?: string;
            resources?: string[];
            data_access?: boolean;
            claims?: string[];
            redirect_url?: string;
        };
        OauthClientCreation: {
            redirect_uris?: string[];
            token_endpoint_auth_method?: string;
            grant_types?: string[];
            response_types?: string[];
            client_name?: string;
            client_uri?: string;
            logo_uri?: string;
            scope?: string;
            jwks?: {
                keys: {
                    [key: string]: unknown;
                }[];
            };
            jwks_uri?: string;
            post_logout_redirect_uris?: string[];
            require_pushed_authorization_requests?: boolean;
            id_token_signed_response_alg?: string;
            default_max_age?: number;
            contacts?: string[];
            policy_uri?: string;
            tos_uri?: string;
            application_type?: "web" | "native";
            software_id?: string;
            software_version?: string;
            client_type?: "public" | "confidential";
            require_pkce?: boolean;
            resources?: string[];
            include_default_audience?: boolean;
        };
        OauthClientChange: {
            redirect_uris?: string[];
            token_endpoint_auth_method?: string;
            grant_types?: string[];
            response_types?: string[];
            client_name?: string;
            client_uri?: string;
            logo_uri?: string;
            scope?: string;
            jwks?: {
                keys: {
                    [key: string]: unknown;
                }[];
            };
            jwks_uri?: string;
            post_logout_redirect_uris?: string[];
            require_pushed_authorization_requests?: boolean;
            id_token_signed_response_alg?: string;
            default_max_age?: number;
            contacts?: string[];
            policy_uri?: string;
            tos_uri?: string;
            application_type?: "web" | "native";
            software_id?: string;
            software_version?: string;
            require_pkce?: boolean;
            resources?: string[];
            include_default_audience?: boolean;
        };
        AdminInvitation: {
            email: string;
            role: "support" | "operator" | "owner";
            link: string;
            expires_at: string;
        };
        Actor: {
            type: "user" | "admin" | "service" | "scim" | "client" | "anonymous" | "system";
            id: string | null;
            role?: string;
        };
        Act: {
            sub: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
