import type { Metadata } from "next";
import type { ReactNode } from "react";
import "../web/style.css";

export const metadata: Metadata = { title: "Notes", icons: "data:," };

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  );
}
