interface Crumb {
  readonly name: string;
  readonly href: string;
}

/** The breadcrumb navigation. */
export function Crumbs({ more = [] }: { more?: readonly Crumb[] }) {
  return (
    <nav class="crumbs" aria-label="Breadcrumb">
      <ol>
        {[{ name: "Data", href: "#/" }, ...more].map(({ name, href }) => (
          <li key={href}>
            <a href={href}>{name}</a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
