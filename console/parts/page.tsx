import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

import { pageUrl } from '../core/base.ts'
import { hasNavigated } from '../core/router.ts'

interface PageProps {
  title: string
  /** The parent page. */
  above?: { path: string; title: string }
  about?: ComponentChildren
  actions?: ComponentChildren
  children: ComponentChildren
}

/** A page: heading, actions and content. Opened by a link, it puts the focus on the heading, which screen readers read. */
export function Page({ title, above, about, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (hasNavigated()) heading.current?.focus({ preventScroll: true })
  }, [])
  useEffect(() => {
    document.title = `${title} · Postern console`
  }, [title])
  return (
    <div class="page">
      <div class="page-head">
        <div>
          {above && (
            <a class="crumb" href={pageUrl(above.path)}>
              ← {above.title}
            </a>
          )}
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {about && <div class="quiet">{about}</div>}
        </div>
        {actions && <div class="row">{actions}</div>}
      </div>
      {children}
    </div>
  )
}
